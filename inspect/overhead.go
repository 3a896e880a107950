package inspect

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// Options are what an analysis stands on.
type Options struct {
	Catalog   catalog.Catalog
	Encodings token.Encodings
	Model     string // counts, sizes and prices of this model, in place of the session's own
	Top       int    // how many of each list; 0: 20
	Talk      bool   // the Report has the conversation, too
}

// DefaultTop is how many of each list a Report has.
const DefaultTop = 20

func (o Options) top() int {
	if o.Top <= 0 {
		return DefaultTop
	}
	return o.Top
}

// NoModel is the model of a segment that names none.
const NoModel = "unknown"

// ModelOf returns the model of a segment: the one asked for, else that of its first
// Step, else that of the request body, else [NoModel].
func (o Options) ModelOf(seg sessionfile.Segment) string {
	if o.Model != "" {
		return o.Model
	}
	for _, e := range seg.Entries {
		if e.Step != nil && e.Step.Model != "" {
			return e.Step.Model
		}
	}
	if seg.Model != "" {
		return seg.Model
	}
	return NoModel
}

// WindowOf returns the window of a segment of s: by the file, the client or the catalogue,
// and at least what was accepted. Where another model is asked for it is that one's.
func (o Options) WindowOf(s *sessionfile.Session, seg sessionfile.Segment) catalog.SessionWindow {
	if o.Model != "" {
		return o.Catalog.WindowOf("", o.Model, 0, 0)
	}
	return o.Catalog.WindowOf(s.Client, o.ModelOf(seg), seg.Window, o.largestOf(seg).Tokens)
}

// Accepted returns the largest prompt of a segment of s if it was accepted although it is
// above a limit that is known of the model: its window, or the most input. Nil: none was.
// Where another model is asked for nothing was accepted by it.
func (o Options) Accepted(s *sessionfile.Session, seg sessionfile.Segment) *Accepted {
	if o.Model != "" {
		return nil
	}
	w, a := o.WindowOf(s, seg), o.largestOf(seg)
	a.Known, a.Window = w.Exceeded, w.Tokens
	if m, _ := o.Catalog.Lookup(o.ModelOf(seg)); a.Known == 0 && m.MaxInput > 0 && m.Window == w.Tokens && a.Tokens > m.MaxInput {
		a.Known = m.MaxInput
	}
	if a.Known == 0 {
		return nil
	}
	return &a
}

// largestOf returns the largest prompt of a segment that its model is known to have taken.
func (o Options) largestOf(seg sessionfile.Segment) Accepted {
	var a Accepted
	model, n := o.ModelOf(seg), 0
	for _, e := range seg.Entries {
		st := e.Step
		if st == nil {
			continue
		}
		n++
		if size := st.Usage.Prompt(); st.Reported && (st.Model == model || st.Model == "") && size > a.Tokens {
			a.Step, a.Line, a.Tokens = n, e.Line, size
		}
	}
	return a
}

// The kinds of an Overhead.
const (
	Measured = "measured" // from the first reported prompt, or from the sum of all that the file states
	Assumed  = "assumed"  // the catalogue's figure for the client
	None     = "none"     // the file is the whole request
)

// A MissingError says that the requests of a segment cannot be rebuilt since what
// they begin with is not in the file.
type MissingError struct {
	Tokens int // of the first prompt that nothing in the file explains
	Prompt int // the first prompt
}

// Error says how much is missing.
func (e *MissingError) Error() string {
	return fmt.Sprintf("%d of the %d tokens of its first prompt are in messages before the file's first line", e.Tokens, e.Prompt)
}

// missingShare is the permille of the first prompt that may be unexplained where a file
// begins in the middle of a session, without a summary. Above it the file lacks a part of
// the conversation itself.
const missingShare = 250

// observed returns the overhead by the first reported prompt, else what is carried on or
// assumed.
func (o Options) observed(s *sessionfile.Session, seg sessionfile.Segment, carried Overhead) (Overhead, error) {
	known, prompt, err := o.firstPrompt(seg)
	if err != nil {
		return Overhead{}, err
	}
	hidden := max(prompt-known, 0)
	switch {
	case seg.Start == sessionfile.StartRoot && prompt > 0:
		return Overhead{Tokens: hidden, Kind: Measured}, nil
	case carried.Kind != Measured:
		carried = o.assumed(s, seg)
	}
	carried.Unrecorded = 0
	if prompt == 0 {
		return carried, nil
	}
	begun := carried.Kind == Measured || begins(seg) // the file shows what the segment begins with
	carried.Tokens = min(carried.Tokens, hidden)
	carried.Unrecorded = hidden - carried.Tokens
	if !begun && carried.Unrecorded*1000 > prompt*missingShare {
		return carried, &MissingError{carried.Unrecorded, prompt}
	}
	return carried, nil
}

// begins reports whether a segment's first prompt has a summary of all that was said
// before it. What else the client put there is no part of the conversation.
func begins(seg sessionfile.Segment) bool {
	for _, e := range seg.Entries {
		if e.Message.Flags.Has(llm.FlagSummary) {
			return true
		}
		if e.Step != nil {
			return false
		}
	}
	return false
}

// assumed returns the overhead that the catalogue has for a client.
func (o Options) assumed(s *sessionfile.Session, seg sessionfile.Segment) Overhead {
	client := s.Client
	if s.Parent != "" && s.Kin != sessionfile.KinFork {
		client += "/sub-agent"
	}
	found, _ := o.Catalog.OverheadOf(client, s.ClientVersion, o.Catalog.FamilyOf(o.ModelOf(seg)).Name)
	return Overhead{Tokens: found.Typical, Kind: Assumed}
}

// firstPrompt returns the estimated size of what the file holds of the first
// reported prompt, and that prompt.
func (o Options) firstPrompt(seg sessionfile.Segment) (known, prompt int, err error) {
	family := o.Catalog.FamilyOf(o.ModelOf(seg))
	counter, err := token.ForFamily(family, o.Encodings)
	if err != nil {
		return 0, 0, err
	}
	size := token.SizeOfTools(counter, seg.Tools)
	for _, sec := range seg.Sections {
		size = size.Add(token.SizeOfSection(counter, sec))
	}
	for _, e := range seg.Entries {
		if e.Step != nil && e.Step.Reported {
			g := token.GrowthOf(size)
			g.OutputUnknown = true
			return token.NewCalibration(family).Cost(g), e.Step.Usage.Prompt(), nil
		}
		size = size.Add(token.SizeOf(counter, e.Message))
	}
	return 0, 0, nil
}

// modelOf returns the model that a call is taken to have asked.
func (o Options) modelOf(recorded, segment string) string {
	if o.Model != "" || recorded == "" {
		return segment
	}
	return recorded
}
