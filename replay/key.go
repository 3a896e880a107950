package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"path/filepath"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/store"
)

// ErrBusy says that the record of a run was written by somebody else while it ran.
var ErrBusy = errors.New("another replay writes to this session")

// busy returns [ErrBusy] in place of a store's conflict: only another replay of the same
// run has the same key.
func busy(key string, err error) error {
	if errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("replay: keep %q: %w", key, ErrBusy)
	}
	return err
}

// keyDigits is how much of a hash stands in a key: 48 bits tell the files of one person
// apart.
const keyDigits = 12

// key returns the name under which a run is kept. Its beginning is for people, its end
// is made from what was run and not from where the file is: only the same run of the
// same content has the same key, and replaces its record.
func (r *raw) key(p policy.Policy, spec WindowSpec) string {
	h := sha256.New()
	put(h, r.id, r.segment.Name, string(r.segment.Start), r.model, string(p.JSON()), spec.String())
	put(h, fmt.Sprint(r.window, r.overhead.Tokens, r.overhead.Unrecorded))
	for _, s := range r.segment.Sections {
		put(h, s.Name, s.Text)
	}
	for _, t := range r.segment.Tools {
		put(h, t.Name, t.Description, t.Schema)
	}
	for _, e := range r.segment.Entries {
		d := llm.DigestOf(e.Message)
		put(h, string(d[:]))
		putThinking(h, e.Message)
		if s := e.Step; s != nil {
			put(h, s.Model, fmt.Sprint(s.Usage, s.Reported, s.OutputReported))
		}
	}
	return fmt.Sprintf("%s#%d %s %s %s", filepath.Base(r.session), r.number, p.Name, spec, hex.EncodeToString(h.Sum(nil))[:keyDigits])
}

// putThinking adds the thinking of a message, which its digest leaves out and a run does
// not: it is counted, kept or dropped.
func putThinking(h hash.Hash, m llm.Message) {
	for i, p := range m.Parts {
		if t, ok := p.(llm.Thinking); ok {
			put(h, fmt.Sprint("thinking ", i, t.Redacted), t.Text, t.Signature)
		}
	}
}

// put adds texts to a hash, each with its length, so that none can be taken for another.
func put(h hash.Hash, texts ...string) {
	for _, s := range texts {
		_, _ = fmt.Fprintf(h, "%d %s", len(s), s) // a hash takes everything
	}
}
