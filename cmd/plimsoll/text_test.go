package main

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

func TestPrintError(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"plain", errors.New("count: no file"), "plimsoll: count: no file\n"},
		{"hint", usage(errors.New("no"), "do"), "plimsoll: no\nhint: do\n"},
		{"lines", errors.New("one\ntwo"), "plimsoll: one\nplimsoll: two\n"},
		{"controls", fmt.Errorf("open \x1b[2J: %w", errors.New("gone")), `plimsoll: open \x1b[2J: gone` + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			printError(&b, tt.err)
			if b.String() != tt.want {
				t.Errorf("got %q, want %q", b.String(), tt.want)
			}
		})
	}
}
