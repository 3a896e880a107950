package wire

// Opening is the text of the user message that an encoder puts in front of a message
// list which would begin with the model, where the provider refuses such a list: what
// was before it has been taken out.
const Opening = "(The conversation before this is left out.)"
