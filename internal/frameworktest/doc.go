// Package frameworktest holds package transport under agents that are built on frameworks
// for Go: eino, langchaingo and Google's ADK. It has no code of its own, only tests, and it
// is a module of its own, so that nobody who uses the library gets them into their module
// graph.
//
//	cd internal/frameworktest && go test ./...
package frameworktest
