package inspectlog

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

const smallHead = `{"version":2,"status":"success","eval":{"task":"t","model":"m","run_id":"r"}`

// zipOf returns an archive of one entry: a beginning and megabytes of filling behind it.
func zipOf(t *testing.T, name, begin string, megabytes int, filling byte) *zip.Reader {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, begin); err != nil {
		t.Fatal(err)
	}
	block := bytes.Repeat([]byte{filling}, 1<<20)
	for range megabytes {
		if _, err := f.Write(block); err != nil {
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

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestBombs: an archive of some kilobytes that unpacks to many megabytes
// takes little memory, both when it is looked at and when it is read.
func TestBombs(t *testing.T) {
	const most = 32 << 20
	for _, c := range []struct {
		name, begin string
		filling     byte
		format      sessionfile.Format
	}{
		{"zeros", "", 0, ""},
		{"blanks", "", ' ', ""},
		{"a text without an end", `{"version":"`, 'a', ""},
		{"a head, and blanks", smallHead, ' ', sessionfile.FormatInspect},
	} {
		archive := zipOf(t, "header.json", c.begin, 80, c.filling)
		var got sessionfile.Format
		if n := allocated(func() { got = detectZip(archive) }); n > most || got != c.format {
			t.Errorf("%s: detection: want %q with at most %d bytes, got %q with %d", c.name, c.format, most, got, n)
		}
		l, left := newLog(), int64(maxAll)
		if n := allocated(func() { l.unzip(archive.File[0], &left) }); n > most || len(l.Session.Problems) != 1 {
			t.Errorf("%s: want a problem with at most %d bytes, got %v with %d", c.name, most, l.Session.Problems, n)
		}
	}
}

// TestLargeEntry: room grows from what an entry says, less than twofold.
func TestLargeEntry(t *testing.T) {
	archive := zipOf(t, "header.json", smallHead, 24, ' ')
	var got []byte
	var err error
	n := allocated(func() { got, err = content(archive.File[0], maxEntry) })
	if err != nil || len(got) != len(smallHead)+24<<20 || !strings.HasPrefix(string(got[:100]), smallHead) || n > 36<<20 {
		t.Errorf("want all of 24 MiB with at most 36 MiB, got %d with %d, %v", len(got), n, err)
	}
}

// TestClaims: an entry that says less, or more, than it holds is an error.
func TestClaims(t *testing.T) {
	for _, claim := range []uint64{1, 1 << 20, 2 << 20, 3 << 20, 1 << 62} {
		f := zipOf(t, "header.json", "", 2, ' ').File[0]
		f.UncompressedSize64 = claim
		_, err := content(f, maxEntry)
		if want := claim == 2<<20; (err == nil) != want {
			t.Errorf("%d: got %v", claim, err)
		}
	}
}

// zipOfEntries returns an archive of entries: a name, a content, a name, …
func zipOfEntries(t *testing.T, entries ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(entries); i += 2 {
		f, err := w.Create(entries[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, entries[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestLargeHead: a log is one however much stands in its head, and before what says so; the
// names of other archives do not make one.
func TestLargeHead(t *testing.T) {
	large := strings.Repeat("x", 6<<20)
	eval := `"eval":{"task":"t","model":"m","run_id":"r","note":"%s"}`
	inEval := `{"version":2,` + fmt.Sprintf(eval, large) + "}"
	before := `{"results":"` + large + `","version":2,` + fmt.Sprintf(eval, "") + "}"
	for _, c := range []struct {
		name    string
		entries []string
		want    sessionfile.Format
	}{
		{"a large eval", []string{"header.json", inEval, "samples/1_epoch_1.json", "{}"}, sessionfile.FormatInspect},
		{"much before it", []string{"_journal/start.json", "{}", "header.json", before}, sessionfile.FormatInspect},
		{"being written", []string{"_journal/start.json", inEval, "samples/1_epoch_1.json", "{}"}, sessionfile.FormatInspect},
		{"samples of something", []string{"header.json", "{}", "samples/1.json", "{}"}, ""},
		{"no head", []string{"samples/1_epoch_1.json", "{}"}, ""},
	} {
		data := zipOfEntries(t, c.entries...)
		archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if got := detectZip(archive); got != c.want {
			t.Errorf("%s: want %q, got %q", c.name, c.want, got)
		}
	}
}

// TestHeadIsFound: what says that a log is one may stand behind other things.
func TestHeadIsFound(t *testing.T) {
	for text, want := range map[string]sessionfile.Format{
		smallHead + "}": sessionfile.FormatInspect,
		`{"eval":{"task":"t","model":"m","task_id":"r"},"plan":{"a":[1]},"version":2}`:                                        sessionfile.FormatInspect,
		fmt.Sprintf(`{"results":"%s","version":2,"eval":{"task":"t","model":"m","task_id":"r"}}`, strings.Repeat("x", 1<<20)): sessionfile.FormatInspect,
		`{"version":2,"eval":{"task":"t"}}`: "",
		`[]`:                                "",
		``:                                  "",
	} {
		if got := detectZip(zipOf(t, "header.json", text, 0, 0)); got != want {
			t.Errorf("%.60s: want %q, got %q", text, want, got)
		}
	}
}
