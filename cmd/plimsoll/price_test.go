package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/replay"
)

// TestBusyHint: who meets another replay in the same store learns what to do.
func TestBusyHint(t *testing.T) {
	var b bytes.Buffer
	printError(&b, fmt.Errorf("replay: keep %q: %w", "s#1 off model", replay.ErrBusy))
	if got := b.String(); !strings.Contains(got, "another replay writes to this session") || !strings.Contains(got, "hint: ") || strings.Contains(got, "conflict") {
		t.Errorf("got %q", got)
	}
}
