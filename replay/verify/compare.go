package verify

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Options is what the caller knows beside the two bodies.
type Options struct {
	Load     Blobs    // loads stored content by its Ref
	Notes    []string // whole texts that the engine wrote: notes, summaries, and replacements that name no Ref
	Tools    []string // names of tools that the engine offers
	Covering []Cover  // what the journal says is stored
}

// A Cover says that messages [From, To) of the transcript left the View and that they
// are stored under Ref. To is 0 if the span is not known; else an archive under that
// Ref must lie within it.
type Cover struct {
	Ref      string
	From, To int
}

// Findings is what does not hold, and what was counted. Every text names the place.
// Places are counted from 0 in the wire messages of the body; see [Place].
type Findings struct {
	// Orphans are results without a call before them, calls without a result (unless
	// the call is of the last reply and nothing but results follows it), second
	// results, and results that do not stand where the dialect wants them.
	Orphans []string
	// Unresolved are Refs that the edited body names, or that are named in an archive
	// or in Options.Covering, that cannot be loaded, whose content has another Ref, or
	// whose archive is damaged. What has the form of a Ref but stands in the raw body
	// is the client's.
	Unresolved []string
	// Uncovered are parts of the raw body that are not in the edited one and cannot be
	// recovered.
	Uncovered []Uncovered
	// Invented are parts of the edited body that the raw one does not have, and that
	// are neither a text or replaced result that names a Ref nor one of Options.Notes;
	// parts that are shown out of order or more than once; and changes to members of a
	// replaced result other than its content.
	Invented []string
	// Fields are the members beside system prompt, tools and messages that differ.
	// Whether they may is for the caller to say.
	Fields []string

	Refs    int // different Refs that the edited body names
	Parts   int // in the edited body
	Removed int // parts of the raw body that the edited one does not show as they came
	Covered Covered
}

// Covered counts the removed parts by how they can be recovered.
type Covered struct {
	Own      int // results that name their own Ref
	Expanded int // results whose pointers give the original
	Named    int // from other Refs that the body names
	Journal  int // only from Refs of Options.Covering
}

// An Uncovered part is lost.
type Uncovered struct {
	Place
	Kind   Kind
	CallID string
	Text   string // the beginning of what is lost
	Why    string
}

// String says what was lost and where.
func (u Uncovered) String() string {
	return fmt.Sprintf("%s: %s %s%q: %s", u.Place, u.Kind, spaced(u.CallID), u.Text, u.Why)
}

// Clean reports whether there are no findings. Fields do not count.
func (f Findings) Clean() bool {
	return len(f.Orphans)+len(f.Unresolved)+len(f.Uncovered)+len(f.Invented) == 0
}

// A Place is where a part stands.
type Place struct {
	Message int // index in the list of messages; -1 in the tools, -2 in the system prompt
	Part    int // index in the message
}

// String names the place.
func (p Place) String() string {
	switch p.Message {
	case systemAt - headLen:
		return fmt.Sprintf("system part %d", p.Part)
	case toolsAt - headLen:
		return fmt.Sprintf("tool %d", p.Part)
	}
	return fmt.Sprintf("message %d part %d", p.Message, p.Part)
}

func spaced(s string) string {
	if s == "" {
		return ""
	}
	return s + " "
}

// Compare judges one edited body against the raw one. For many Steps of a session
// use a [Checker].
func Compare(dialect string, raw, edited []byte, o Options) (Findings, error) {
	c, err := NewChecker(dialect)
	if err != nil {
		return Findings{}, err
	}
	return c.Compare(raw, edited, o)
}

// Compare judges an edited body against the raw one. It fails only if one of them is
// no body of the dialect; everything else is a finding.
func (c *Checker) Compare(raw, edited []byte, o Options) (Findings, error) {
	if err := c.next(&c.raw, raw); err != nil {
		return Findings{}, fmt.Errorf("raw body: %w", err)
	}
	if err := c.next(&c.edited, edited); err != nil {
		return Findings{}, fmt.Errorf("edited body: %w", err)
	}
	f := Findings{Parts: c.edited.parts, Fields: changed(c.raw.frame.fields, c.edited.frame.fields)}
	stored := slices.ContainsFunc(c.edited.frame.fields, func(f Field) bool {
		return f.Name == "previous_response_id" && !none(f.Raw)
	})
	f.Orphans = c.orphans(c.edited.list[headLen:], stored)
	j := judgement{Checker: c, Options: o, f: &f}
	j.match()
	j.judge()
	return f, nil
}

// changed lists the members that are not the same in both bodies.
func changed(a, b []Field) []string {
	var out []string
	value := func(fs []Field, name string) []byte {
		for _, f := range fs {
			if f.Name == name {
				return f.Raw
			}
		}
		return nil
	}
	for _, f := range a {
		if !bytes.Equal(f.Raw, value(b, f.Name)) {
			out = append(out, f.Name)
		}
	}
	for _, f := range b {
		if value(a, f.Name) == nil {
			out = append(out, f.Name)
		}
	}
	return out
}

// A spot is a part where it stands.
type spot struct {
	Place
	*piece
	kept bool
}

// A judgement is one comparison under way.
type judgement struct {
	*Checker
	Options
	f     *Findings
	was   []spot  // what the raw body has, where the bodies differ
	is    []spot  // what the edited body has there
	fresh []spot  // of these, what the raw body does not have
	stubs []*spot // for every fresh one, the result of was that it replaces, if any
}

// match finds out which parts are in both bodies. The parts of the edited body must
// be those of the raw one in the same order, so the first fitting place is taken.
func (j *judgement) match() {
	j.was, j.is = j.middle()
	at := map[int][]int{}
	for i, s := range j.was {
		at[s.id] = append(at[s.id], i)
	}
	results := map[string][]int{}
	for i, s := range j.was {
		if s.Kind == Result && !s.Hosted {
			results[s.CallID] = append(results[s.CallID], i)
		}
	}
	cursor := 0
	for _, s := range j.is {
		places, known := at[s.id]
		if i, ok := from(places, cursor); ok {
			j.was[i].kept = true
			cursor = i + 1
			continue
		}
		if known {
			j.inventf(s, "is out of order or shown once more")
			continue
		}
		var stub *spot
		if s.Kind == Result && !s.Hosted {
			if i, ok := j.place(s.piece, results[s.CallID], cursor); ok {
				stub, cursor = &j.was[i], i+1
			}
		}
		j.fresh, j.stubs = append(j.fresh, s), append(j.stubs, stub)
	}
}

// from returns the first of the ascending places that is not before cursor.
func from(places []int, cursor int) (int, bool) {
	i, _ := slices.BinarySearch(places, cursor)
	if i == len(places) {
		return 0, false
	}
	return places[i], true
}

// place finds the result that s replaces: the one whose Ref it names if ids are used
// more than once, else the next one of its call.
func (j *judgement) place(s *piece, results []int, cursor int) (int, bool) {
	next, ok := from(results, cursor)
	if !ok {
		return 0, false
	}
	for _, i := range results {
		if i >= next && intersect(j.was[i].names(), s.words()) {
			return i, true
		}
	}
	return next, true
}

func intersect(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// middle returns the parts of both bodies without the messages that they begin and
// end with in common.
func (j *judgement) middle() (was, is []spot) {
	a, b := j.raw.list, j.edited.list
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return spots(a[:len(a)-tail], head), spots(b[:len(b)-tail], head)
}

func spots(list []*message, head int) []spot {
	var out []spot
	for i := head; i < len(list); i++ {
		for n, p := range list[i].pieces {
			out = append(out, spot{Place: Place{i - headLen, n}, piece: p})
		}
	}
	return out
}

func (j *judgement) inventf(s spot, format string, args ...any) {
	what := fmt.Sprintf("%s: %s %s%q ", s.Place, s.Kind, spaced(s.CallID), short(s.piece.Part))
	j.f.Invented = append(j.f.Invented, what+fmt.Sprintf(format, args...))
}

// short returns the beginning of what a part says.
func short(p Part) string {
	const most = 80
	s := p.Text
	if strings.TrimSpace(s) == "" {
		s = string(p.Raw)
	}
	if len(s) <= most {
		return s
	}
	s = s[:most]
	for len(s) > 0 && !utf8.ValidString(s) && len(s) > most-utf8.UTFMax {
		s = s[:len(s)-1]
	}
	return s + "…"
}
