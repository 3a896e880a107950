package inspectlog

import (
	"archive/zip"
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

func newLog() *log {
	return &log{Reading: read.NewReading("tides.eval", sessionfile.FormatInspect, func(sessionfile.Segment) bool { return true })}
}

func archiveOf(t *testing.T, names ...string) *zip.Reader {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(`{"name":"` + name + `"}`))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestUnzipIsBounded: what is unpacked counts against what may be, whatever the
// archive says, and what does not fit any more is a problem.
func TestUnzipIsBounded(t *testing.T) {
	f := archiveOf(t, "header.json").File[0]
	l, left := newLog(), int64(40)
	if d := l.unzip(f, &left); d == nil || left != 40-int64(len(d.Bytes)) || len(l.Session.Problems) > 0 {
		t.Fatalf("want the entry and the rest of 40 bytes, got %v, %d left, %v", d, left, l.Session.Problems)
	}
	if d := l.unzip(f, &left); d != nil || len(l.Session.Problems) != 1 || !strings.Contains(l.Session.Problems[0].What, "header.json") {
		t.Errorf("want a problem, got %v with %d left, %v", d, left, l.Session.Problems)
	}
}

// TestExpandIsBounded: one text may be named any number of times.
func TestExpandIsBounded(t *testing.T) {
	l := newLog()
	l.expanded = maxAside - 10
	aside, name := []byte(`"0123456"`), []byte(`"attachment://a"`)
	if got := l.expand(1, aside, name); !bytes.Equal(got, aside) || len(l.Session.Problems) > 0 {
		t.Errorf("want the text, got %s, %v", got, l.Session.Problems)
	}
	for range 2 {
		if got := l.expand(1, aside, name); !bytes.Equal(got, name) {
			t.Errorf("want its name, got %s", got)
		}
	}
	if len(l.Session.Problems) != 1 {
		t.Errorf("want one problem, got %v", l.Session.Problems)
	}
}

func TestSamples(t *testing.T) {
	archive := archiveOf(t,
		"samples/b_epoch_1.json", "samples/10_epoch_1.json", "samples/2_epoch_2.json", "samples/2_epoch_1.json", "samples/2_epoch_1.json",
		"samples/a_epoch_9_epoch_1.json", "samples/p/q_epoch_1.json", "samples/long_epoch_1/sample.json", "samples/long_epoch_1/events/0.json",
		"samples/x.json", "samples/x_epoch_y.json", "samples/x_epoch_1.txt", "header.json", "/samples/x_epoch_1.json",
	)
	var got []string
	for _, e := range samples(archive) {
		name := e.file.Name
		if e.pieces {
			name += " in pieces"
		}
		got = append(got, name)
	}
	want := []string{
		"samples/2_epoch_1.json", "samples/10_epoch_1.json", "samples/a_epoch_9_epoch_1.json", "samples/b_epoch_1.json",
		"samples/long_epoch_1/sample.json in pieces", "samples/p/q_epoch_1.json", "samples/2_epoch_2.json",
	}
	if !slices.Equal(got, want) {
		t.Errorf("want %q, got %q", want, got)
	}
}
