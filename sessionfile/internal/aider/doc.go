// Package aider reads the chat history that aider writes as Markdown: many chats, one
// behind the other. It is for sessionfile/formats only.
//
// "# aider chat started at TIME" begins a chat, and so does the command /clear or
// /reset in it. Lines that begin with "#### " are what the user said, those that
// begin with "> " are aider's own words for the screen, and everything else is the
// model's reply, or the output of a command, of which only the first line is marked.
//
// # What was sent
//
// The file is a log, not the prompt: neither the system prompt nor the files that are
// in the chat are in it. What the user said is Human, but for the lint errors that
// aider sends by itself. Commands are not sent, except those that ask the model
// something (/ask, /code, /architect, /help), of which the words behind them are.
// What follows a command is its output; if a count of tokens says that the model was
// called, the last text before it is the reply, and what stands before that is what
// was sent, as a Note. So is what aider says between two replies: it sends its errors
// back by itself. What aider writes to the screen otherwise is left out. If the
// chat goes on with an older one ("Restored previous conversation history"), its
// beginning is not known: it starts as StartResumed.
//
// # Marks
//
// Each line that aider marks ends in two spaces. Of an output of several lines only the
// first one is marked and only the last one ends so; a reply has an empty line before it,
// and lines in it that look marked have no such end. A file that lost the spaces, as to an
// editor, is read by its marks alone.
//
// # Architect
//
// In architect mode the reply is a plan, which aider gives to an editor: another model,
// that is sent the plan and nothing of the conversation before it. The file has the plan
// a second time then, as if the user had said it; in no other mode, where a user who
// repeats a reply said it. That a chat is in this mode aider says where it names its
// models, and the command /architect asks so once. Each editor is a segment of its own
// behind the architect's, which goes on without it.
//
// # Usage
//
// "Tokens: 2.5k sent, 1,234 received. Cost: …" follows a reply. The figures are
// aider's own, estimated or rounded: a Step has them as the client's count and not as
// reported. A reply that was stopped has none. Where a count follows no reply the call was
// made all the same, and a line stands for the reply. Aider shortens its history to a
// summary without a word of it here, so that what was sent may be far less than the
// conversation in the file. What the chat cost so far ("$0.17 session") is stated, with
// the rounding of all figures that it sums up. Versions up to 0.48 add what was paid before
// a question (/ask) to it again with the next call; where a sum rises by more than its call
// cost, it is stated why. Calls for commit messages and summaries leave nothing in the file.
package aider
