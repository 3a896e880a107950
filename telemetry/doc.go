// Package telemetry counts what happens in sessions, as OpenTelemetry metrics. Its
// source is [plimsoll.Session.Events]: it decides nothing, and nothing else in the module
// needs it, so that a program which does not import it has no OpenTelemetry in it.
//
//	recorder, err := telemetry.New(provider, telemetry.Options{})
//	…
//	go recorder.Follow(ctx, session) // until the session is closed
//
// A host that reads the events itself calls [Recorder.Record] instead. One Recorder
// serves any number of sessions.
//
// The metrics are those of the document behind policy guard, the token usage of OpenTelemetry's GenAI conventions, and a few
// of our own under plimsoll. docs/telemetry.md lists them all. Their attributes name
// providers, models, rules of policies and constants of this module: never a session, a
// ref, or anything that a person, a model or a tool wrote. How many names are kept apart
// is bounded by [Options].
//
// Only the API of OpenTelemetry is imported. The SDK and the exporter are the program's
// choice; internal tests of two exporters are in a module of their own (exporttest).
package telemetry
