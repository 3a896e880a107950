//go:build unix

package replay

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// TestFileOfPipe: a pipe is not read a second time. To read it would take what somebody
// else writes, or wait for it.
func TestFileOfPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe.jsonl")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	wrote := make(chan error, 1)
	go func() { // stands until somebody reads
		wrote <- os.WriteFile(path, []byte(`{"type":"user"}`), 0o600)
	}()
	if got := new(Replayer).fileOf(&sessionfile.Session{Path: path}); got != nil {
		t.Fatal("want nothing, got what was written to the pipe")
	}
	data, err := os.ReadFile(path) // still there for its reader
	if err != nil || len(data) == 0 {
		t.Errorf("want what was written, got %q, %v", data, err)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
}
