package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// searcher returns s as a store that finds contents by their words, or skips the test.
func searcher(t *testing.T, s store.Store) store.Searcher {
	t.Helper()
	f, ok := s.(store.Searcher)
	if !ok {
		t.Skipf("%T finds nothing", s)
	}
	return f
}

// finds compares what a search finds, the best first, with the contents that are wanted.
func (v view) finds(session, query string, want ...string) {
	v.t.Helper()
	hits, err := v.s.(store.Searcher).Search(context.Background(), session, query, 10)
	must(v.t, err)
	var got []llm.Ref
	for _, h := range hits {
		if len(got) == 0 || got[len(got)-1] != h.Ref {
			got = append(got, h.Ref)
		}
	}
	var refs []llm.Ref
	for _, text := range want {
		refs = append(refs, blobOf(text).Ref)
	}
	if !slices.Equal(got, refs) {
		v.t.Errorf("search for %q in %q: want %.40q, got %+v", query, session, want, hits)
	}
}

func testSearch(t *testing.T, s store.Store) {
	f, ctx := searcher(t, s), t.Context()
	code := "package sqlite\n\nfunc (l *lane) findOrBegin(ctx context.Context) error {\n\treturn errNoName\n}\n"
	paths := "store/sqlite/open_test.go:12: undefined: migrations\nstore\\memory.go: fine\n"
	german := "Der Größenwahn des Schiffs.\n船の満載喫水線\n"
	must(t, s.Put(ctx, "a", []edit.Blob{blobOf(code), blobOf(paths), blobOf(german), blobOf(""), blobOf("words\x00of a binary")}))
	for _, q := range []string{"findOrBegin", "find_or_begin", "FINDORBEGIN", "begin", "find", "errnoname", "(l *lane)", `"lane" AND`} {
		see(t, s).finds("a", q, code)
	}
	for _, q := range []string{"open_test.go", "open_test", "migrations", "undefined:", "memory -fine NOT"} {
		see(t, s).finds("a", q, paths)
	}
	see(t, s).finds("a", "store/sqlite/open_test.go", paths, code) // which is of package sqlite
	see(t, s).finds("a", "größenwahn", german)
	see(t, s).finds("a", "喫水", german)
	for _, q := range []string{"", "nowhere", "binary", "\x00", "***", `"`, "NEAR(", "x"} {
		see(t, s).finds("a", q)
	}
	t.Run("what has all words comes first, then what fits better", func(t *testing.T) {
		all := "alpha beta gamma " + strings.Repeat("filling words ", 100)
		some := strings.Repeat("alpha beta ", 50)
		rare := "gamma and nothing else"
		must(t, s.Put(ctx, "order", []edit.Blob{blobOf(all), blobOf(some), blobOf(rare)}))
		see(t, s).finds("order", "alpha beta gamma", all, some, rare)
		hits, err := f.Search(ctx, "order", "alpha beta gamma", 2)
		must(t, err)
		if len(hits) != 2 || hits[0].Score <= 0 {
			t.Errorf("want two hits with a score, got %+v", hits)
		}
		for _, limit := range []int{0, -1} {
			if hits, err := f.Search(ctx, "order", "alpha", limit); err != nil || len(hits) != 0 {
				t.Errorf("limit %d: want nothing, got %+v (%v)", limit, hits, err)
			}
		}
	})
	t.Run("of two that fit as well the newer one comes first", func(t *testing.T) {
		for i := range 3 {
			must(t, s.Put(ctx, "age", []edit.Blob{blobOf(fmt.Sprint("the same words, copy ", i))}))
		}
		see(t, s).finds("age", "same words", "the same words, copy 2", "the same words, copy 1", "the same words, copy 0")
	})
	t.Run("a query may be long", func(t *testing.T) {
		see(t, s).finds("a", "migrations "+strings.Repeat("absent0 absent1 ", 10_000), paths)
	})
}

// testSearchPlace: a hit says where in the content its text is, and shows what follows the
// words that were found.
func testSearchPlace(t *testing.T, s store.Store) {
	f, ctx := searcher(t, s), t.Context()
	log := strings.Split(strings.TrimSuffix(logOf(900<<10), "\n"), "\n")
	for i, at := range []int{0, 1, 5000, 12_345, len(log) - 1} {
		log[at] += fmt.Sprintf(" needle%d", i)
	}
	wide := strings.Repeat("é", 4000) + " pin " + strings.Repeat("ü", 4000)
	text := strings.Join(log, "\n") + "\n" + wide
	must(t, s.Put(ctx, "a", []edit.Blob{blobOf(text)}))
	for _, sep := range []string{"\n", `\n`} { // lines, and one long line of them
		text := strings.Repeat("nothing of note on this watch"+sep, 100) + "the tiller of the barge: " + strings.Repeat("-", 60) + " 31 m" + sep + strings.Repeat("nothing"+sep, 90)
		must(t, s.Put(ctx, "b"+sep, []edit.Blob{blobOf(text)}))
		hits, err := f.Search(ctx, "b"+sep, "tiller barge", 5)
		must(t, err)
		if len(hits) != 1 || !strings.Contains(hits[0].Text, " 31 m") {
			t.Errorf("want what stands behind the words that are found, got %+v", hits)
		}
	}
	for i, q := range []string{"needle0", "needle1", "needle2", "needle3", "needle4", "pin"} {
		hits, err := f.Search(ctx, "a", q, 5)
		must(t, err)
		if len(hits) != 1 {
			t.Fatalf("%s: want one hit, got %+v", q, hits)
		}
		h := hits[0]
		if !strings.HasPrefix(text[h.Offset:], h.Text) || !strings.Contains(h.Text, q) || len(h.Text) > 1000 || !utf8.ValidString(h.Text) {
			t.Errorf("%s: want its text at %d, got %q", q, h.Offset, h.Text)
		}
		if want := strings.Count(text[:h.Offset], "\n"); h.Line != int64(want) || i < 5 && text[max(h.Offset-1, 0)] != '\n' && h.Offset > 0 {
			t.Errorf("%s: want the beginning of line %d, got %d", q, want, h.Line)
		}
	}
}

// testSearchArchive: what is said in an archive is found and shown as it was said, and what
// the program has said itself is not found.
func testSearchArchive(t *testing.T, s store.Store) {
	f, ctx := searcher(t, s), t.Context()
	line := func(kind, key, text string) string {
		in, err := json.Marshal(map[string]string{key: text})
		must(t, err)
		return fmt.Sprintf(`{"message":1,"role":"tool","origin":"tool","part":0,"kind":%q,%s`+"\n", kind, in[1:])
	}
	output := "\tkeelson := \"a\\nb\"\nreturn keelson // größer\n"
	in, err := json.Marshal(map[string]string{"type": "tool_result", "content": output})
	must(t, err)
	archive := `{"archive":1,"from":1,"to":9}` + "\n" + line("text", "text", "first\nstrake\tof \"wood\"") +
		strings.Repeat(`{"note":"a note of the bilge`+strings.Repeat(", bilge", 1000)+`"}`+"\n", 3) +
		line("tool_call", "text", `search_context {"query":"bilge"}`) + line("tool_call", "raw", `{"type":"tool_use","name":"plimsoll_search_context","input":{"query":"bilge"}}`) +
		line("tool_result", "raw", `{"content":"ref:`+string(blobOf("").Ref)+`\n    1  bilge"}`) + line("tool_result", "raw", string(in))
	must(t, s.Put(ctx, "a", []edit.Blob{blobOf(archive), blobOf("ref:" + string(blobOf("").Ref) + "\n    1  bilge"), blobOf(`C:\new\table is a path`)}))
	for query, want := range map[string]string{"strake": "strake\tof \"wood\"\"}\n", "keelson return": output, "new table": `C:\new\table is a path`} {
		hits, err := f.Search(ctx, "a", query, 5)
		must(t, err)
		if len(hits) != 1 || !strings.Contains(hits[0].Text+"\n", want) {
			t.Errorf("%s: want one hit that shows %q, got %+v", query, want, hits)
			continue
		}
		h := hits[0]
		if h.Said != (query != "new table") || h.Said && (h.Line != int64(strings.Count(archive[:h.Offset], "\n")) || !strings.HasPrefix(archive[h.Offset:], h.Text[:6]) && h.Text[0] != '\t') {
			t.Errorf("%s: want where it stands, got %+v", query, h)
		}
	}
	if hits, err := f.Search(ctx, "a", "bilge", 5); err != nil || len(hits) > 0 {
		t.Errorf("want nothing of the program's own found, got %+v (%v)", hits, err)
	}
}

// testSearchSessions: a search sees what its session sees.
func testSearchSessions(t *testing.T, s store.Store) {
	f, ctx := searcher(t, s), t.Context()
	d := deleter(t, s)
	put := func(session, text string) { must(t, s.Put(ctx, session, []edit.Blob{blobOf(text)})) }
	put("parent", "word before")
	see(t, s).finds("parent", "word", "word before")
	must(t, s.Fork(ctx, "parent", "child", 0))
	put("parent", "word after")
	put("child", "word of the child")
	must(t, f.Index(ctx, "child"))
	must(t, s.Fork(ctx, "child", "grandchild", 0))
	put("child", "word after that")
	put("other", "word of another")
	see(t, s).finds("parent", "word", "word after", "word before")
	see(t, s).finds("child", "word before", "word before", "word after that", "word of the child")
	see(t, s).finds("grandchild", "word", "word of the child", "word before")
	see(t, s).finds("other", "word", "word of another")
	see(t, s).finds("nobody", "word")
	must(t, d.Delete(ctx, "child"))
	see(t, s).finds("child", "word")
	see(t, s).finds("grandchild", "word", "word of the child", "word before")
	must(t, d.Delete(ctx, "parent"))
	must(t, d.Delete(ctx, "grandchild"))
	put("other", "word before")
	see(t, s).finds("other", "word before", "word before", "word of another")
	must(t, f.Index(ctx, "other"))
	see(t, s).finds("other", "word", "word before", "word of another")
}

// testSearchContext: what was indexed before the context ended is kept.
func testSearchContext(t *testing.T, s store.Store) {
	f := searcher(t, s)
	must(t, s.Put(t.Context(), "a", []edit.Blob{blobOf("word")}))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Index(over, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("Index: want the context's error, got %v", err)
	}
	if _, err := f.Search(over, "a", "word", 5); !errors.Is(err, context.Canceled) {
		t.Errorf("Search: want the context's error, got %v", err)
	}
	see(t, s).finds("a", "word", "word")
}

// DifferentialSearch puts random contents into two stores and compares all that searches find.
// a and b return an empty store each time, and close it when t ends.
func DifferentialSearch(t *testing.T, a, b func(t T) store.Store) {
	words := []string{"open", "openFile", "open_file", "store/open.go", "file", "line\n", "error:", "the", "a", "Größe", "水", "\xff", "\n", strings.Repeat("long", 50)}
	rapid.Check(t, func(r *rapid.T) {
		one, other := a(r), b(r)
		stores := []store.Store{one, other}
		draw := func(most int) string {
			var b strings.Builder
			for range rapid.IntRange(0, most).Draw(r, "words") {
				b.WriteString(rapid.SampledFrom(words).Draw(r, "word"))
				b.WriteString(rapid.SampledFrom([]string{" ", "", "(", "."}).Draw(r, "between"))
			}
			return b.String()
		}
		for range rapid.IntRange(1, 8).Draw(r, "steps") {
			text, session := draw(30), rapid.SampledFrom([]string{"a", "b"}).Draw(r, "session")
			if rapid.IntRange(0, 3).Draw(r, "large") == 0 {
				text = strings.Repeat(text+"\n", 30)
			}
			fork := rapid.IntRange(0, 4).Draw(r, "fork") == 0
			query := draw(4)
			for _, s := range stores {
				must(r, s.Put(context.Background(), session, []edit.Blob{blobOf(text)}))
				if fork {
					_ = s.Fork(context.Background(), "a", "b", 0) // it may be there
				}
			}
			for _, session := range []string{"a", "b"} {
				got1, err1 := one.(store.Searcher).Search(context.Background(), session, query, 5)
				got2, err2 := other.(store.Searcher).Search(context.Background(), session, query, 5)
				if err1 != nil || err2 != nil || len(got1)+len(got2) > 0 && !reflect.DeepEqual(got1, got2) {
					r.Fatalf("search for %q in %q: one has %+v (%v), the other %+v (%v)", query, session, got1, err1, got2, err2)
				}
			}
		}
	})
}
