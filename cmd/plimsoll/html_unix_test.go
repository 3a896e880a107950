//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestHTMLPipe: a pipe is refused, not opened.
func TestHTMLPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if err := htmlCheck(t, pipe); err == nil || !strings.Contains(err.Error(), "got a pipe") {
		t.Errorf("got %v", err)
	}
}
