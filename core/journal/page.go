package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// PageVersion is the version of the form in which a Page is written. One of a later version
// is not read: the records say the same. In the first one each edit had all of its Refs.
const PageVersion = 2

// A Page is what a restart needs of a stretch of a session's records, in one piece. It holds
// the records of the stretch one by one, so that what [Collect] makes of pages, made [Whole],
// and of the records after them is what it makes of all records; but of the states only the
// last is whole, as a restart needs no other, and the Refs of an archive that went into a later
// one stand there once. The newest page also says what is shown.
//
// Pages save a restart the reading of each record by itself. They decide nothing, and can
// always be made again.
type Page struct {
	From, To int      // the numbers of the records, To excluded
	Before   []int    // the To of the pages before it, in their order; nil: they are found by going back from From
	Lines    [][]byte // of the records; see [Shorten]
	Shown    Shown    // after them; zero: a later page says it
}

// A Shown is a view for readers that know nothing of sessions: a document's table of
// snapshots.
type Shown struct {
	Tokens   int
	Messages []llm.Message // the system prompt among them
}

// pageHead is the first line of a page. Its names of messages and their tokens are those of
// the document's table.
type pageHead struct {
	Version  int            `json:"plimsoll"`
	From     int            `json:"from"`
	To       int            `json:"to"`
	Before   []int          `json:"before,omitempty"`
	Tokens   *int           `json:"token_count,omitempty"`
	Messages []shownMessage `json:"messages,omitempty"`
}

// EncodePage returns p as lines: one about it, then its records.
func EncodePage(p Page) ([]byte, error) {
	if p.From < 0 || p.To-p.From != len(p.Lines) {
		return nil, fmt.Errorf("journal: encode page: records %d to %d, want as many lines, got %d", p.From, p.To, len(p.Lines))
	}
	h := pageHead{Version: PageVersion, From: p.From, To: p.To, Before: p.Before}
	if p.Shown.Messages != nil {
		h.Tokens, h.Messages = &p.Shown.Tokens, shownOf(p.Shown.Messages)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(h); err != nil {
		return nil, fmt.Errorf("journal: encode page: %w", err)
	}
	for _, l := range p.Lines {
		b.Write(l)
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// DecodePage reads what EncodePage wrote, but for what is shown. Its lines share data.
func DecodePage(data []byte) (Page, error) {
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	h, err := headOf(first)
	if err != nil {
		return Page{}, fmt.Errorf("journal: decode page: %w", err)
	}
	if h.Version < 1 || h.Version > PageVersion {
		return Page{}, fmt.Errorf("journal: decode page: version, want 1 to %d, got %d", PageVersion, h.Version)
	}
	p := Page{From: h.From, To: h.To, Before: h.Before, Lines: bytes.Split(bytes.TrimSuffix(rest, []byte("\n")), []byte("\n"))}
	if h.From < 0 || h.To-h.From != len(p.Lines) {
		return Page{}, fmt.Errorf("journal: decode page: records %d to %d, want as many lines, got %d", h.From, h.To, len(p.Lines))
	}
	return p, nil
}

// headOf reads the first line of a page up to what is shown: that may be megabytes, which
// nobody needs to take a session up.
func headOf(line []byte) (pageHead, error) {
	var h pageHead
	if i := bytes.Index(line, []byte(`,"token_count":`)); i >= 0 {
		line = append(bytes.Clone(line[:i]), '}')
	}
	return h, json.Unmarshal(line, &h)
}

// Lines yields lines as a store does, for [Read].
func Lines(lines [][]byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, l := range lines {
			if !yield(l, nil) {
				return
			}
		}
	}
}

// errShort says that a state was left out of a page. The records have it.
var errShort = errors.New("this state is only in the records")

// Shorten returns the lines of records as a [Page] has them: states but the last are only
// what the records around them are read with, and edits have no Refs that an earlier one has,
// if that is among those of the session that are given. Lines that stay are shared.
func Shorten(lines [][]byte, edits []edit.Edit) ([][]byte, error) {
	out := make([][]byte, len(lines))
	reported := true // a usage may wait for its reply: nobody knows what came before
	last := -1       // the newest state
	for i, l := range lines {
		out[i] = l
		r, err := Decode(l)
		if err != nil {
			return nil, err
		}
		switch r.Kind {
		case KindEdit:
			if out[i], err = leaner(l, r, edits); err != nil {
				return nil, err
			}
		case KindUsage:
			reported = r.Usage.Output
		case KindMessage:
			reported = reported && !isReply(r.Message)
		case KindState:
			if last >= 0 {
				if out[last], err = short(lines[last]); err != nil {
					return nil, err
				}
			}
			last = i
			if reported { // whether the reply is still awaited only the whole state says
				last = -1
			}
		}
	}
	return out, nil
}

// short returns the line of a state with no more than what [UnreadState] has.
func short(l []byte) ([]byte, error) {
	r, err := Decode(l)
	if err != nil {
		return nil, err
	}
	s := r.State
	return Encode(Record{Kind: KindState, State: &State{
		LastEdit: s.LastEdit, Final: s.Final, Sent: Sent{Edit: s.Sent.Edit, Messages: s.Sent.Messages}, short: true,
	}})
}
