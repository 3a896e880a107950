// Package sweagent reads the trajectories of SWE-agent (.traj) and mini-swe-agent
// (.traj.json). It is for sessionfile/formats only.
//
// No person takes part: the instruction that opens the run comes from a template, so
// it is a Note that opens Turn 1 (DESIGN.md section 2). With function calling an
// observation is a tool result. Without, it is a text in the user's role, and stays
// what was sent: a Note. The engine does not shorten Notes as it does outputs, but it
// takes them into the archive, and it may do so with the newest one, which it could
// not with a message of a person (law 8 pins the last).
//
// SWE-agent's history is read, which is the whole conversation. Where the client
// sent older observations shortened, which its trajectory shows, this is a Problem
// and they are read whole. Both programs say what a run cost; only mini-swe-agent
// says, from version 2 on, what each call used.
package sweagent
