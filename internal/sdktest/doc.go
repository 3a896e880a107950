// Package sdktest holds what the codecs write against the official SDKs of the providers:
// whatever a program that is built on one of them reads here it would read from the
// provider. It holds package transport under them, too, and the recipes of docs/library.md
// for who calls them by hand. It has no code of its own, only tests and benchmarks, and it is a module of
// its own, so that nobody who uses the library gets three SDKs into their module graph.
//
//	cd internal/sdktest && go test ./...
//	scripts/sdks /tmp/sdks && PLIMSOLL_PYTHON_SDKS=/tmp/sdks/bin/python go test -run Python ./...
//	go test -run '^$' -bench . ./... | benchstat -col /impl -
package sdktest
