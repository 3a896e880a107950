// Package budget holds limits: the window of a target and what is left of it,
// the counters of the guard that looks before every call, and the floor below
// which no edit can bring a prompt. It compares numbers that package token
// counted and gives verdicts; what is then done is for policies and the engine.
//
//	window:    capacity - buffer - output reserve = limit
//	guard:     current + pending + fresh + extra > limit, for each target
//	share:     permille of a window, rounded down
//	floor:     what cannot be taken out; above the limit, a Step is irreducible
//
// All figures are tokens unless they say otherwise; shares are permille. Nothing
// here reads a message: functions take numbers.
package budget
