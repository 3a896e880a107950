package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/config"
)

// link makes a link, or skips the test where that is not allowed.
func link(t *testing.T, old, path string) {
	t.Helper()
	if err := os.Symlink(old, path); err != nil {
		t.Skip(err)
	}
}

// TestUntrustedTokenizer: a file that came with a folder cannot have another one read that
// lies elsewhere, or that is none. The user's own can name any regular file.
func TestUntrustedTokenizer(t *testing.T) {
	other := filepath.Join(folder(t, "private.json", "s3cret"), "private.json")
	for _, c := range []struct {
		id   string
		here bool // may be said in the working folder
		user bool // may be said in the user's
	}{
		{"tiktoken:o200k_base", true, true},
		{"hf:tokenizer.json", true, true},
		{"hf:sub/tokenizer.json", true, true},
		{"hf:inside.json", true, true},
		{"hf:outside.json", false, true},
		{"hf:missing.json", false, true},
		{"hf:sub", false, true},
		{"hf:../tokenizer.json", false, true},
		{"hf:sub/../../x/tokenizer.json", false, true},
		{"hf:sub/../tokenizer.json", false, true},
		{"hf:" + other, false, true},
		{" hf:" + other, false, true},
		{"spm:" + other, false, true},
		{"max(chars/4,hf:" + other + ")", false, true},
		{"hf:" + os.DevNull, false, false},
	} {
		dir := folder(t, "plimsoll.yaml", "models: {m: {tokenizer: '"+c.id+"'}}", "tokenizer.json", "{}")
		if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "sub", "tokenizer.json"), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		link(t, other, filepath.Join(dir, "outside.json"))
		link(t, filepath.Join("sub", "tokenizer.json"), filepath.Join(dir, "inside.json"))
		_, err := config.FindSettings(dir, "", known())
		if (err == nil) != c.here || err != nil && (!strings.Contains(err.Error(), "models.m.tokenizer: a file in the working folder may only") || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%s in the working folder: got %v", c.id, err)
		}
		if _, err := config.FindSettings(folder(t), dir, known()); (err == nil) != c.user {
			t.Errorf("%s of the user: got %v", c.id, err)
		}
	}
}

// TestSettingsAreAFile: what is no regular file is not opened, and a link out of the working
// folder is not followed.
func TestSettingsAreAFile(t *testing.T) {
	elsewhere := filepath.Join(folder(t, "key.txt", "s3cret: [x"), "key.txt")
	linked := folder(t)
	link(t, elsewhere, filepath.Join(linked, "plimsoll.yaml"))
	device := folder(t)
	link(t, os.DevNull, filepath.Join(device, "plimsoll.yaml"))
	dir := folder(t)
	if err := os.Mkdir(filepath.Join(dir, "plimsoll.toml"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{linked: "a link that leads out", device: "want a regular file", dir: "want a regular file"} {
		_, err := config.FindSettings(name, "", known())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	good := filepath.Join(folder(t, "mine.yaml", "model: openai/gpt-5"), "mine.yaml")
	user := folder(t)
	link(t, good, filepath.Join(user, "plimsoll.yaml"))
	if s, err := config.FindSettings(folder(t), user, known()); err != nil || s.Model != "openai/gpt-5" {
		t.Errorf("the user's own link: got %+v, %v", s, err)
	}
}
