//go:build unix

package config_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/plimsoll-dev/plimsoll/config"
)

// TestPipes: nothing waits for a pipe, whoever names it.
func TestPipes(t *testing.T) {
	settings := folder(t)
	named := folder(t, "plimsoll.yaml", "models: {m: {tokenizer: 'hf:pipe'}}")
	for _, pipe := range []string{filepath.Join(settings, "plimsoll.yaml"), filepath.Join(named, "pipe")} {
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Skip(err)
		}
	}
	for dir, want := range map[string]string{settings: "want a regular file", named: "only name a regular file"} {
		if _, err := config.FindSettings(dir, "", known()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("in the working folder: want %q, got %v", want, err)
		}
	}
	if _, err := config.FindSettings("", settings, known()); err == nil || !strings.Contains(err.Error(), "want a regular file") {
		t.Errorf("of the user: got %v", err)
	}
	if _, err := config.LoadSettings(filepath.Join(settings, "plimsoll.yaml"), known()); err == nil || !strings.Contains(err.Error(), "want a regular file") {
		t.Errorf("named by the user: got %v", err)
	}
	if _, err := config.LoadPolicy(filepath.Join(settings, "plimsoll.yaml")); err == nil || !strings.Contains(err.Error(), "want a regular file") {
		t.Errorf("a policy: got %v", err)
	}
}
