// Package loop runs command-line agents on one goal, again and again. core/loop decides
// what each prompt says, how far an iteration got and when the loop ends; this package
// starts the agents, keeps the state in a store, and listens to a folder in the workspace.
//
//	r, err := loop.Start(ctx, loop.Options{Store: st, Workspace: dir, Agents: agents, Counter: c}, goal)
//	defer r.Close()
//	outcome, err := r.Run(ctx)
//
// # What is kept, and when
//
// Each input of the machine is a record in the session "loop/ID" of the store, with what came
// of it, and each output is a content of that session. An iteration is on record before its
// agent is started and when it has ended. [Resume] makes the machine again from the last whole
// state in the records and what came after, so that a loop goes on wherever it was killed,
// with the same window, summary and counters.
//
// # Agents
//
// An agent gets the prompt on standard input or as an argument, works in the workspace, and is
// the first of a process group of its own, which is ended with it. Of its output both ends are
// kept, 4 MiB in all. Where the output is JSON, only the final answer in it can mark progress
// or make the promise.
//
// # The folder
//
// In .plimsoll in the workspace are
//
//	lock       held while a loop runs, with who holds it
//	stop       ends the loop when the iteration that runs has ended
//	pause      holds it before the next iteration for as long as it is there
//	log        what a loop in the background prints
//	inbox/     messages for the agent, NNN-anything.txt, lower numbers first
//
// Nothing outside of it is read or written through it, whatever links it has.
//
// # Files
//
//	answer.go          the final answer in JSON output
//	agent.go           which programs, and how they are called
//	capture.go         both ends of an output
//	system.go          what systems differ in: processes that belong together, locks
//	system_unix.go     of these
//	system_other.go    of others
//	leftover_linux.go  what is left of an agent whose host was killed
//	leftover_other.go  the same, of other systems
//	process.go         one run of an agent
//	folder.go          the folder in the workspace
//	inbox.go           the messages in it
//	events.go          when something changes in the workspace
//	files.go           what changed in the workspace
//	env.go             what is recorded of the environment
//	journal.go         records, and the machine made of them again
//	history.go         what the records say, for a reader
//	memory.go          what is known of a workspace, for all loops in it
//	vectors.go         older iterations found by what they mean
//	runner.go          Start and Resume
//	ask.go             a model that writes summaries
//	recall.go          what older iterations and other loops add to a prompt
//	run.go             the loop itself
package loop
