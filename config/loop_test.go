package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/config"
)

// The section context has the keys of the document about loops, in both formats; the file of
// the working folder goes before the user's, key by key.
func TestR004_10(t *testing.T) {
	t.Run("R004-10_settings_of_the_window_and_the_summary", func(t *testing.T) {
		working, user := t.TempDir(), t.TempDir()
		for path, text := range map[string]string{
			filepath.Join(working, "plimsoll.toml"): "[context]\nraw_window_size = 7\n",
			filepath.Join(user, "plimsoll.yaml"):    "context:\n  raw_window_size: 3\n  summarize_every: 4\n  max_summary_tokens: 1500\n",
		} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, err := config.FindSettings(working, user, config.Known{})
		if err != nil {
			t.Fatal(err)
		}
		if c := s.Loop; c.RawWindowSize.Value != 7 || c.SummarizeEvery.Value != 4 || c.MaxSummaryTokens.Value != 1500 {
			t.Errorf("want 7, 4 and 1500, got %+v", c)
		}
	})
	for text, fault := range map[string]string{
		"context: 5": "context: want how a loop remembers its iterations", "context: {raw_window_size: 0}": "want 1 to 100",
		"context: {raw_window_size: 101}": "want 1 to 100", "context: {max_summary_tokens: 2001}": "want 1 to 2,000",
		"context: {summarize_every: often}": "want 1 to 1,000,000", "context: {summarize_evry: 5}": "summarize_every",
	} {
		path := filepath.Join(t.TempDir(), "s.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := config.LoadSettings(path, config.Known{}); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: want the fault %q, got %v", text, fault, err)
		}
	}
}
