package replay_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// aRef is what has the form of a Ref.
var aRef = regexp.MustCompile(`\br[a-z2-7]{26}\b`)

// A place is where a part stands in a transcript.
type place struct {
	message llm.MessageID
	part    int
}

// outputsOf returns the hashes of the outputs of a recorded conversation.
func outputsOf(seg sessionfile.Segment) (sums [][32]byte) {
	for _, e := range seg.Entries {
		for _, out := range e.Message.Results() {
			sums = append(sums, sha256.Sum256(edit.Stored(out)))
		}
	}
	return sums
}

// run returns the session of a segment.
func (w *watched) run(segment int) *watchedRun {
	for _, r := range w.runs {
		if strings.Contains(r.session, fmt.Sprintf("#%d ", segment)) {
			return r
		}
	}
	return &watchedRun{watched: w} // nothing was run
}

// outputsCanBeHad fails unless each output stands in the view as it came, or is kept under a Ref
// that the view, an edit in force or an archive names. Recorded are the outputs of the file, in
// their order; of a run that ended early the last ones were never there.
func (r *watchedRun) outputsCanBeHad(t *testing.T, recorded [][32]byte, ended bool) {
	view := r.view()
	shown := map[place][]byte{}
	for _, it := range view.Items {
		for i, p := range it.Message.Parts {
			if out, ok := p.(llm.ToolResult); ok && !it.IsNote() {
				shown[place{it.Message.ID, i}] = edit.Stored(out)
			}
		}
	}
	refs := aRef.FindAllString(textOf(view), -1)
	for _, e := range edit.Holding(r.edits) {
		for _, ref := range e.Refs {
			refs = append(refs, string(ref))
		}
	}
	kept, archived := r.reached(refs)
	for _, m := range r.msgs {
		for i, p := range m.Parts {
			out, ok := p.(llm.ToolResult)
			if !ok {
				continue
			}
			want, at := edit.Stored(out), place{m.ID, i}
			sum := sha256.Sum256(want)
			if len(recorded) > 0 && sum == recorded[0] {
				recorded = recorded[1:]
			}
			r.sum.outputs++
			if bytes.Equal(shown[at], want) {
				continue
			}
			r.sum.left++
			r.sum.bytes += len(want)
			if !kept[sum] && !bytes.Equal(archived[at], out.Bytes()) {
				t.Errorf("%s: output %s of message %d, %d bytes, can be had nowhere", r.session, out.CallID, m.ID, len(want))
			}
		}
	}
	if r.session != "" && len(recorded) > 0 && !ended {
		t.Errorf("%s: %d outputs of the file are not in the transcript", r.session, len(recorded))
	}
}

// reached returns the hashes of what is kept under some Refs, and under those that archives
// among them name; and the parts that stand in the archives themselves.
func (r *watchedRun) reached(refs []string) (map[[32]byte]bool, map[place][]byte) {
	kept, archived, known := map[[32]byte]bool{}, map[place][]byte{}, map[string]bool{}
	for len(refs) > 0 {
		ref := refs[0]
		refs = refs[1:]
		if known[ref] {
			continue
		}
		known[ref] = true
		data, err := r.Get(r.t.Context(), r.session, llm.Ref(ref))
		if err != nil {
			r.t.Errorf("%s: %v", r.session, err)
			continue
		}
		kept[sha256.Sum256(data)] = true
		if !bytes.HasPrefix(data, []byte(`{"archive":1,`)) {
			continue
		}
		for line := range bytes.Lines(data) {
			var e struct {
				Message llm.MessageID
				Part    int
				Ref     string
				Archive any
				Raw     string
				Raw64   []byte
			}
			if err := json.Unmarshal(line, &e); err != nil {
				r.t.Errorf("%s: archive %s: %v", r.session, ref, err)
			}
			if earlier, ok := e.Archive.(string); ok {
				e.Ref = earlier
			}
			if e.Ref != "" {
				refs = append(refs, e.Ref)
			}
			if e.Raw64 == nil {
				e.Raw64 = []byte(e.Raw)
			}
			if len(e.Raw64) > 0 {
				archived[place{e.Message, e.Part}] = e.Raw64
			}
		}
	}
	return kept, archived
}
