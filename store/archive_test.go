package store_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// TestArchiveProse: in any archive the same passages are found one after another and each by its
// place; together they say all that was said in it, as it was said, and nothing of its notes.
func TestArchiveProse(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		archive, said := drawArchive(r)
		var m store.Memory
		ref := llm.RefOf(archive)
		if err := m.Put(t.Context(), "s", []edit.Blob{{Ref: ref, Data: archive}}); err != nil {
			r.Fatal(err)
		}
		c, err := m.Open(t.Context(), "s", ref)
		if err != nil {
			r.Fatal(err)
		}
		prose, err := store.ProseOf(c)
		if err != nil {
			r.Fatal(err)
		}
		var all strings.Builder
		for p, err := range prose.Passages(store.Passage{}) {
			if err != nil {
				r.Fatal(err)
			}
			again, err := prose.At(p.Offset, p.Line)
			if err != nil || !bytes.Equal(again.Text, p.Text) || int64(bytes.Count(archive[:p.Offset], []byte("\n"))) != p.Line {
				r.Fatalf("passage at %d, line %d: %q, and by its place %q (%v)", p.Offset, p.Line, p.Text, again.Text, err)
			}
			all.Write(p.Text)
		}
		if strings.Contains(all.String(), "bilge") {
			r.Fatalf("want no note, got %q", all.String())
		}
		for _, text := range said {
			if !strings.Contains(all.String(), text) {
				r.Fatalf("want %q in %q", text, all.String())
			}
		}
	})
}

// drawArchive returns an archive and what is said in its short lines.
func drawArchive(r *rapid.T) (archive []byte, said []string) {
	archive = []byte(`{"archive":1,"from":1,"to":9}` + "\n")
	for range rapid.IntRange(0, 12).Draw(r, "lines") {
		words := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"keel", "strake\n", "\t\"tiller\"", `C:\dir`, "größe", `a\nb`, "<b>"}), 1, 20).Draw(r, "words"), " ") + "\n"
		long := strings.Repeat("plank ", rapid.SampledFrom([]int{0, 100, 2000}).Draw(r, "long"))
		line := map[string]any{"message": 1, "role": "tool", "kind": "text"}
		switch rapid.IntRange(0, 3).Draw(r, "kind") {
		case 3: // a page that a tool of ours gave back
			page, _ := json.Marshal("of the bilge " + long + words) // of a text
			archive = append(archive, `{"message":2,"role":"tool","origin":"tool","part":0,"kind":"tool_result","own":"tool_output_cache","text":`+string(page)+"}\n"...)
			continue
		case 0:
			line = map[string]any{"note": "of the bilge " + long + words}
		case 1:
			line["text"] = words + long
			said = append(said, words)
		case 2:
			in, _ := json.Marshal(map[string]string{"content": words + long}) // of a text
			line["raw"] = string(in)
			said = append(said, words)
		}
		written, _ := json.Marshal(line) // of texts
		archive = append(append(archive, written...), '\n')
	}
	return archive, said
}
