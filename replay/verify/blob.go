package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Blobs returns what is stored under a Ref.
type Blobs func(ref string) ([]byte, error)

// A blob is stored content that matches its Ref.
type blob struct {
	data  []byte
	lines *archive // once it was read as an archive
	bad   error    // why it is none
}

// errPlain says that stored content does not begin like an archive.
var errPlain = errors.New("want an archive, got other content")

// blob loads what is stored under ref and compares it with the Ref.
func (c *Checker) blob(ref string, load Blobs) (*blob, error) {
	if b, ok := c.blobs[ref]; ok {
		return b, nil
	}
	if load == nil {
		return nil, errors.New("nothing to load it from")
	}
	data, err := load(ref)
	if err != nil {
		return nil, err
	}
	if got := refOf(data); got != ref {
		return nil, fmt.Errorf("content has the Ref %s", got)
	}
	b := &blob{data: data}
	c.blobs[ref] = b
	return b, nil
}

// An archive is a span of messages as it is stored (package comment of core/edit).
type archive struct {
	from, to int
	entries  []entry
	frames   [][]byte // of each message that came as one object, what is around its parts
	archives []nested
	notes    []string
}

type nested struct {
	ref      string
	from, to int
}

// An entry is one part in an archive.
type entry struct {
	reply bool   // the assistant's
	kind  Kind   // Call, Result or, for everything else, Opaque
	ref   string // of its content
	apart bool   // the content is stored under ref, not in the archive
	bytes []byte // in the archive
}

// A line is a line of an archive. The members of all kinds of lines are together.
type line struct {
	Archive   json.RawMessage `json:"archive"` // of the head, 1; else a Ref
	From      int             `json:"from"`
	To        int             `json:"to"`
	Message   int             `json:"message"`
	Frame     []string        `json:"frame"`
	Frame64   [][]byte        `json:"frame64"`
	Role      string          `json:"role"`
	Origin    string          `json:"origin"`
	Part      int             `json:"part"`
	Kind      string          `json:"kind"`
	Own       string          `json:"own"` // the tool, of an answer of ours
	Ref       string          `json:"ref"`
	Raw       *string         `json:"raw"`
	Raw64     []byte          `json:"raw64"`
	Text      *string         `json:"text"`
	Text64    []byte          `json:"text64"`
	Signature string          `json:"signature"` // of thinking beside its text
	Note      *string         `json:"note"`
}

// archive reads b as an archive.
func (b *blob) archive() (*archive, error) {
	if b.lines == nil && b.bad == nil {
		b.lines, b.bad = readArchive(b.data)
	}
	return b.lines, b.bad
}

func readArchive(data []byte) (*archive, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var head line
	if err := dec.Decode(&head); err != nil || head.Archive == nil || first(head.Archive) == '"' {
		return nil, errPlain
	}
	if string(head.Archive) != "1" {
		return nil, fmt.Errorf("archive: version, want 1, got %s", head.Archive)
	}
	a := &archive{from: head.From, to: head.To}
	if a.from < 1 || a.from >= a.to {
		return nil, fmt.Errorf("archive: span, want messages, got [%d,%d)", a.from, a.to)
	}
	for n := 2; ; n++ {
		var l line
		err := dec.Decode(&l)
		if errors.Is(err, io.EOF) {
			return a, nil
		}
		if err == nil {
			err = a.add(l)
		}
		if err != nil {
			return nil, fmt.Errorf("archive: line %d: %w", n, err)
		}
	}
}

// add takes one line.
func (a *archive) add(l line) error {
	switch {
	case l.Archive != nil:
		n := nested{unquote(l.Archive), l.From, l.To}
		if n.from < a.from || n.to > a.to {
			return fmt.Errorf("archive of [%d,%d), want one within [%d,%d)", n.from, n.to, a.from, a.to)
		}
		a.archives = append(a.archives, n)
		return nil
	case l.Note != nil:
		a.notes = append(a.notes, *l.Note)
		return nil
	case l.Message < a.from || l.Message >= a.to:
		return fmt.Errorf("message %d, want one of [%d,%d)", l.Message, a.from, a.to)
	case l.Frame != nil || l.Frame64 != nil:
		a.frames = append(a.frames, l.frame())
		return nil
	}
	e := entry{reply: l.Role == roleAssistant, kind: classOf(l.Kind), ref: l.Ref, apart: l.Ref != ""}
	if !e.apart {
		e.bytes = l.content()
		e.ref = refOf(e.bytes)
	}
	a.entries = append(a.entries, e)
	return nil
}

// frame returns what is around the parts of a message, with a line break for each part.
func (l line) frame() []byte {
	pieces := l.Frame64
	for _, s := range l.Frame {
		pieces = append(pieces, []byte(s))
	}
	return bytes.Join(pieces, []byte("\n"))
}

// content returns what a line holds of a part. Thinking that had no bytes is a list
// of its text and its signature.
func (l line) content() []byte {
	text := l.Text64
	switch {
	case l.Raw != nil:
		return []byte(*l.Raw)
	case l.Raw64 != nil:
		return l.Raw64
	case l.Text != nil:
		text = []byte(*l.Text)
	}
	if l.Signature == "" {
		return text
	}
	both, err := json.Marshal([]string{string(text), l.Signature})
	if err != nil {
		return text
	}
	return both
}

// classOf returns the class of an archive's kind.
func classOf(kind string) Kind {
	switch kind {
	case "tool_call":
		return Call
	case "tool_result":
		return Result
	}
	return Opaque
}

// class returns the class of a part, as an archive tells them apart.
func (p *piece) class() Kind {
	if (p.Kind == Call || p.Kind == Result) && !p.Hosted {
		return p.Kind
	}
	return Opaque
}

// reach is everything that can be got at from some Refs.
type reach struct {
	named, cited, covering []string // what it was computed from; cited are those that texts, not results, name
	unresolved             []string
	loaded                 map[string]way
	stored                 map[string][]byte // of loaded
	entries                []entry
	ways                   []way // of entries
	frames                 [][]byte
	frameWays              []way
	exact                  map[string][]int // entries by the Ref of their content
	leaves                 map[[32]byte][]int
	visited                map[string]bool // archives
}

// way says how something is reached.
type way int

const (
	byName    way = iota + 1 // from a Ref that the body names
	byJournal                // only from a Ref of Options.Covering
)

// reachOf follows the Refs named in a body, those of them that are cited in texts,
// and those of the journal. The last answer is kept.
func (c *Checker) reachOf(named, cited []string, o Options) *reach {
	var covering []string
	for _, v := range o.Covering {
		covering = append(covering, v.Ref)
	}
	if r := c.reach; r != nil && len(r.unresolved) == 0 && slices.Equal(r.named, named) &&
		slices.Equal(r.cited, cited) && slices.Equal(r.covering, covering) {
		return r
	}
	r := &reach{
		named: named, cited: cited, covering: covering,
		loaded: map[string]way{}, stored: map[string][]byte{}, exact: map[string][]int{}, visited: map[string]bool{},
	}
	for _, ref := range named {
		c.follow(r, ref, byName, o.Load)
	}
	for _, ref := range cited {
		c.open(r, nested{ref: ref}, byName, o.Load)
	}
	for _, v := range o.Covering {
		c.follow(r, v.Ref, byJournal, o.Load)
		c.open(r, nested{v.Ref, v.From, v.To}, byJournal, o.Load)
	}
	c.reach = r
	return r
}

// follow loads one Ref.
func (c *Checker) follow(r *reach, ref string, w way, load Blobs) *blob {
	b, err := c.blob(ref, load)
	if err != nil {
		r.fault(ref, err)
		return nil
	}
	if _, ok := r.loaded[ref]; !ok {
		r.loaded[ref], r.stored[ref] = w, b.data
	}
	return b
}

func (r *reach) fault(ref string, err error) {
	if s := ref + ": " + err.Error(); !slices.Contains(r.unresolved, s) {
		r.unresolved = append(r.unresolved, s)
	}
}

// open goes through an archive, if the Ref is of one. A span that is known of it
// must be its own, or, for one of the journal, around it.
func (c *Checker) open(r *reach, n nested, w way, load Blobs) {
	b := c.blobs[n.ref]
	if b == nil || r.visited[n.ref] {
		return
	}
	a, err := b.archive()
	switch {
	case errors.Is(err, errPlain):
		return
	case err != nil:
		r.fault(n.ref, err)
		return
	case n.to > 0 && (a.from < n.from || a.to > n.to):
		r.fault(n.ref, fmt.Errorf("archive of [%d,%d), want one of [%d,%d)", a.from, a.to, n.from, n.to))
		return
	}
	r.visited[n.ref] = true
	c.contents(r, a, w, load)
}

// contents takes what an archive holds.
func (c *Checker) contents(r *reach, a *archive, w way, load Blobs) {
	for _, e := range a.entries {
		if e.apart && c.follow(r, e.ref, w, load) == nil {
			continue
		}
		r.exact[e.ref] = append(r.exact[e.ref], len(r.entries))
		r.entries, r.ways = append(r.entries, e), append(r.ways, w)
	}
	for _, f := range a.frames {
		r.frames, r.frameWays = append(r.frames, f), append(r.frameWays, w)
	}
	for _, n := range a.archives {
		b := c.follow(r, n.ref, w, load)
		if b == nil {
			continue
		}
		if _, err := b.archive(); errors.Is(err, errPlain) {
			r.fault(n.ref, err)
		}
		c.open(r, n, w, load)
	}
	for _, note := range a.notes {
		for _, ref := range words(note) {
			if _, err := c.blob(ref, load); err != nil && !c.stands(ref) {
				r.fault(ref, err)
			} else if err == nil {
				c.follow(r, ref, w, load)
				c.open(r, nested{ref: ref}, w, load)
			}
		}
	}
}

// stands reports whether ref is a word of the raw body: then it is the client's.
func (c *Checker) stands(ref string) bool { return bytes.Contains(c.raw.body, []byte(ref)) }
