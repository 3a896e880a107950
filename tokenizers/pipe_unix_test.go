//go:build unix

package tokenizers_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/plimsoll-dev/plimsoll/tokenizers"
)

// TestPipe: loading does not wait for somebody to write to a pipe.
func TestPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "tokenizer.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := tokenizers.Load(pipe); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("got %v", err)
	}
}
