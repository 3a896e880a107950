package recording_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/recording"
)

func corpus(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("PLIMSOLL_CORPUS")
	if dir == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: no recordings to read")
	}
	return dir
}

func TestLoadCorpus(t *testing.T) {
	dir := corpus(t)
	all, err := recording.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	read := map[string]bool{}
	for _, e := range all {
		file, _, _ := strings.Cut(e.Name, "#")
		read[file] = true
		counts[fmt.Sprintf("dialect %q status %d stream %v", e.Dialect, e.Status, e.Stream)]++
		if e.Dialect != "" && len(e.Request) > 0 && !json.Valid(e.Request) {
			t.Errorf("%s: request, want JSON, got %.80q", e.Name, e.Request)
		}
		if e.JSON() && !json.Valid(e.Response) {
			t.Errorf("%s: response, want JSON, got %.80q", e.Name, e.Response)
		}
		if e.Events() && !bytes.Contains(e.Response, []byte("data:")) && !json.Valid(e.Response) {
			t.Errorf("%s: response, want a stream, got %.80q", e.Name, e.Response)
		}
	}
	for _, folder := range []string{"http-recordings", "gemini-api"} {
		files, err := filepath.Glob(filepath.Join(dir, folder, "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			rel, _ := filepath.Rel(dir, f)
			if !read[filepath.ToSlash(rel)] {
				t.Errorf("%s: want exchanges, got none", rel)
			}
		}
	}
	var lines []string
	for line, n := range counts {
		lines = append(lines, fmt.Sprintf("%4d %s", n, line))
	}
	slices.Sort(lines)
	t.Logf("%d exchanges of %d files\n%s", len(all), len(read), strings.Join(lines, "\n"))
}
