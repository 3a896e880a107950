//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPolicyPipe: a pipe in place of a policy or of settings is refused, and nothing waits for
// somebody to write to it.
func TestPolicyPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := loadPolicy(pipe); err == nil || !strings.Contains(err.Error(), "want a preset or a regular file") {
		t.Errorf("policy: got %v", err)
	}
	if _, err := loadSettings(pipe); err == nil || !strings.Contains(err.Error(), "want a regular file") {
		t.Errorf("settings: got %v", err)
	}
}
