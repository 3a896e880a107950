package main

import (
	"os"

	"golang.org/x/term"
)

// isDumb reports whether the terminal obeys nothing: it gets plain text.
func isDumb() bool { return os.Getenv("TERM") == "dumb" }

// isTerminal reports whether a stream, such as [streams.in], is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
