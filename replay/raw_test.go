package replay

import (
	"archive/zip"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// archive writes an evaluation log of one sample, packed, so that its bytes are not text.
func archive(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range [][2]string{
		{"header.json", `{"version":2,"status":"success","eval":{"eval_id":"ev-7","run_id":"r","task_id":"t","task":"locks","model":"openai/gpt-4o"}}`},
		{"samples/1_epoch_1.json", `{"id":1,"epoch":1,"messages":[{"id":"a","role":"user","source":"input","content":"` + strings.Repeat("Which lock gate leaks, the upper or the lower? ", 40) +
			`"},{"id":"b","role":"assistant","source":"generate","content":"The lower: its seal is worn, and the paddle does not close."}]}`},
	} {
		f, err := w.Create(e[0])
		if err == nil {
			_, err = f.Write([]byte(e[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if utf8.Valid(b.Bytes()) {
		t.Fatal("the archive happens to be text")
	}
	path := filepath.Join(t.TempDir(), "locks.eval")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestJudgedArchive: an archive is judged by what is in it.
func TestJudgedArchive(t *testing.T) {
	s, err := formats.Open(archive(t))
	if err != nil {
		t.Fatal(err)
	}
	off, err := policy.Preset("off")
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(Options{Policies: []policy.Policy{off}, Judge: true})
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	err = r.Session(context.Background(), s, func(res Result) error { runs += len(res.Runs); return nil })
	if err != nil || runs != 1 {
		t.Errorf("want one run that the judge finds nothing in, got %d, %v", runs, err)
	}
}

// TestFileOfFolder: what is no file is not looked at.
func TestFileOfFolder(t *testing.T) {
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "gone.jsonl")} {
		if got := new(Replayer).fileOf(&sessionfile.Session{Path: path}); got != nil {
			t.Errorf("%s: want nothing, got %v", path, got)
		}
	}
}
