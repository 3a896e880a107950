// Package policy says, as plain data, what is done about a full context window
// and when. It holds the types, the reader and writer of their JSON form, the
// presets, and the check that finds every fault of a policy at once. It does not
// act and it decides nothing: core/engine looks at the rules in their order, and
// core/edit does what they say.
//
// A program takes a [Preset], or reads a policy of its own with [Parse] and
// checks it with [Validate]; package config reads the same from YAML and TOML.
// [Policy.Resolve] makes the window of a target of what is stated, known, learnt and
// assumed, and [Condition.Threshold] the figures of a rule in it: nobody else does.
// [Explain] shows them.
//
// # Figures
//
// Every share is an integer in permille and every share of something is rounded
// down, as the source documents do. A threshold is compared by
// the operator that its document states: ">" is strict, ">=" includes equality.
// A token figure is taken by the policy's estimator, except [MeasureUsage], which
// is what the provider reported.
//
// # Estimators
//
// [Validate] checks only the form of an estimator's name. The names themselves
// are known to core/token, whose NewCounter refuses an unknown one when an engine
// starts; "model" (the estimator of the target's own model) and "count" (the one
// count of DESIGN.md section 2) are the engine's.
package policy
