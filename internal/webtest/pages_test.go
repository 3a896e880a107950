package webtest

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
	"github.com/plimsoll-dev/plimsoll/web"
)

// replayed runs a session under all presets on two windows.
func replayed(t *testing.T, path string) []replay.Result {
	t.Helper()
	o := replay.Options{Series: true, Judge: true}
	for _, name := range policy.Presets() {
		p, err := policy.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		o.Policies = append(o.Policies, p)
	}
	for _, window := range []string{"100%", "50%"} {
		w, err := replay.ParseWindow(window)
		if err != nil {
			t.Fatal(err)
		}
		o.Windows = append(o.Windows, w)
	}
	r, err := replay.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := formats.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []replay.Result
	if err := r.Session(context.Background(), s, func(res replay.Result) error { out = append(out, res); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// inspected analyses a session.
func inspected(t *testing.T, path string) []inspect.Report {
	t.Helper()
	s, err := formats.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	var encodings plimsoll.Encodings
	report, err := inspect.Session(s, inspect.Options{Catalog: c, Encodings: encodings.Load, Talk: true})
	if err != nil {
		t.Fatal(err)
	}
	return []inspect.Report{report}
}

// page writes a page into a file and returns its path; where PLIMSOLL_SHOTS is set, it is kept there.
func page(t *testing.T, name string, write func(io.Writer) error) string {
	t.Helper()
	folder := os.Getenv("PLIMSOLL_SHOTS")
	if folder == "" {
		folder = t.TempDir()
	}
	path := filepath.Join(folder, name+".html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func replayPage(t *testing.T, name string, results []replay.Result, o web.Options) string {
	t.Helper()
	return page(t, name, func(w io.Writer) error { return web.WriteReplay(w, results, o) })
}

func inspectPage(t *testing.T, name string, reports []inspect.Report, o web.Options) string {
	t.Helper()
	return page(t, name, func(w io.Writer) error { return web.WriteInspect(w, reports, o) })
}

// recorded returns the largest session of the corpus below 3 MB.
func recorded(t *testing.T) string {
	t.Helper()
	root := os.Getenv("PLIMSOLL_CORPUS")
	if root == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: no recorded session to look at")
	}
	const most = 3 << 20
	best, size := "", int64(0)
	err := filepath.WalkDir(filepath.Join(root, "codex"), func(path string, e os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Size() > size && info.Size() < most {
			best, size = path, info.Size()
		}
		return err
	})
	if err != nil || best == "" {
		t.Fatalf("no session below %s: %v", root, err)
	}
	return best
}
