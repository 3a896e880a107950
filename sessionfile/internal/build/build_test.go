package build

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

func TestCost(t *testing.T) {
	for dollars, want := range map[string]int64{
		"0.48953100000000005": 489_531_000_000, "9e-06": 9_000_000, "2.1000000000000002e-05": 21_000_000, "2": 2_000_000_000_000,
		"0": 0, "-1": 0, "1e300": 0, "NaN": 0, "": 0, `"1"`: 0, "null": 0,
	} {
		if got := Cost([]byte(dollars)); got != want {
			t.Errorf("%s dollars: want %d picodollars, got %d", dollars, want, got)
		}
	}
}

func TestMedia(t *testing.T) {
	m, ok := Media("image/png", "aGVucw==").(llm.Media)
	if !ok || m.Type != "image/png" || m.Bytes() == nil {
		t.Errorf("an image: got %+v", m)
	}
	if _, ok := Media("application/pdf", "aGVucw==").(llm.Media); !ok {
		t.Error("a document: want a medium")
	}
	mime, data, ok := DataURL("data:image/png;base64,aGVucw==")
	if !ok || mime != "image/png" || data != "aGVucw==" {
		t.Errorf("address: got %q, %q, %t", mime, data, ok)
	}
	if _, _, ok := DataURL("https://example.org/hens.png"); ok {
		t.Error("an address that holds nothing was taken apart")
	}
}

// TestTrail: whatever tree the lines form, each model call was sent what stands on the
// path from the root to it, since the last compaction.
func TestTrail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var segments []sessionfile.Segment
		r := read.NewReading("file", sessionfile.FormatPi, func(s sessionfile.Segment) bool { segments = append(segments, s); return true })
		trail := NewTrail(r)
		path := map[string][]string{"": nil} // what is said up to each id
		ids := []string{""}                  // since the last compaction
		want := map[string]string{}          // what each call was sent
		parent := ""
		for no := 1; no <= 30; no++ {
			id := fmt.Sprint("l", no)
			if rapid.IntRange(0, 4).Draw(t, "branch") == 0 {
				parent = rapid.SampledFrom(ids).Draw(t, "parent")
			}
			trail.Follow(no, parent)
			e := sessionfile.Entry{Line: no, Message: Note(0, llm.Text{Text: id})}
			switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
			case kind == 0 && parent != "":
				trail.Compact(no, id, trail.Len(), e)
				path, ids = map[string][]string{id: {id}}, nil
			case kind < 5:
				e.Message.Role, e.Message.Origin, e.Step = llm.RoleAssistant, llm.Model, &sessionfile.Step{}
				want[id] = strings.Join(path[parent], " ")
				fallthrough
			default:
				trail.Add(id, e)
				path[id] = append(slices.Clone(path[parent]), id)
			}
			ids, parent = append(ids, id), id
		}
		trail.Finish()
		got := map[string]string{}
		for _, s := range segments {
			var sent []string
			for _, e := range s.Entries {
				if e.Step != nil {
					got[e.Message.Text()] = strings.Join(sent, " ")
				}
				sent = append(sent, e.Message.Text())
			}
		}
		for id, sent := range want {
			if had, ok := got[id]; !ok || had != sent {
				t.Fatalf("the call of %s: want it sent %q, got %q", id, sent, had)
			}
		}
	})
}

// TestTrailBeforeCompaction: what goes on from a message that is no longer held cannot be
// run, and says so.
func TestTrailBeforeCompaction(t *testing.T) {
	var segments []sessionfile.Segment
	r := read.NewReading("file", sessionfile.FormatPi, func(s sessionfile.Segment) bool { segments = append(segments, s); return true })
	trail := NewTrail(r)
	note := func(no int) sessionfile.Entry {
		return sessionfile.Entry{Line: no, Message: Note(0, llm.Text{Text: "x"})}
	}
	trail.Add("a", note(1))
	trail.Compact(2, "b", trail.Len(), note(2))
	trail.Follow(3, "a")
	trail.Add("c", note(3))
	trail.Finish()
	if len(segments) != 3 || segments[2].NotRun == "" || len(segments[2].Entries) != 1 || len(r.Session.Abandoned) != 1 {
		t.Errorf("want a third segment that cannot be run, got %+v, %+v", segments, r.Session.Abandoned)
	}
}
