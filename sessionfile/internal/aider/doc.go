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
// # Usage
//
// "Tokens: 2.5k sent, 1,234 received. Cost: …" follows a reply. The figures are
// aider's own estimates or rounded, so a Step has them, but not as reported.
package aider
