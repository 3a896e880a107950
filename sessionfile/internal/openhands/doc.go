// Package openhands reads what OpenHands writes: trajectories, which are arrays of
// events (also as the member trajectory of an object), and the output.jsonl of its
// evaluations and of its resolver, with one such history on a line. It is for
// sessionfile/formats only.
//
// # Messages
//
// Actions of the agent that share a model_response.id are one reply and one Step; the
// reply is the recorded one, with its usage. An observation is the result of the
// action that it names as its cause, with what the shell's prompt adds around it
// (extras.metadata prefix and suffix). The action finish is sent back as a text, and
// so it is read. Events of the client's own (agent states, null) were never sent.
//
// Events without tool_call_metadata are those of early versions and of models
// without function calling, which wrote their actions as texts. The file does not
// have these texts, but what they held: the thought and the arguments are the reply,
// and the observation is a Note behind it. No call is made up that nobody made.
//
// # Who wrote it
//
// A message of the source user is Human; in an output.jsonl, where the evaluation
// speaks, it is a Note, and so is what the client recalls (its flag is rules if it
// holds the repository's instructions).
//
// # Condensation
//
// The action condensation names the events that are forgotten and gives a summary
// and its place among the events. A new segment begins with what is left of all
// events so far. A call goes with its result. A summary stays until the next one.
package openhands
