// Package testagent is a client for tests: it holds its whole history, as agents do, and
// sends all of it with every request, in any dialect.
//
//	a := testagent.New(url, "anthropic", true)
//	err := a.Run(ctx) // until the model has answered without a call
//
// It stands for no client in particular: the real ones are in internal/clienttest, the
// providers' own libraries in internal/sdktest.
package testagent
