package main

import (
	"io"
)

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// stdinName stands for the standard input among files.
const stdinName = "-"
