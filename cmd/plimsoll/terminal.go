package main

import (
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether a stream, such as [streams.in], is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
