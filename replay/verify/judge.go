package verify

import (
	"bytes"
	"slices"
	"sort"
	"strings"
)

// judge looks at what is new in the edited body, then for what is gone from it.
func (j *judgement) judge() {
	if len(j.was) == 0 && len(j.is) == 0 {
		return
	}
	var named, cited []string
	claims := make([][]string, len(j.fresh))
	for i, s := range j.fresh {
		claims[i] = j.claims(s.piece)
		for _, ref := range claims[i] {
			named = appendNew(named, ref)
			if s.Kind != Result {
				cited = appendNew(cited, ref)
			}
		}
	}
	j.f.Refs = len(named)
	r := j.reachOf(named, cited, j.Options)
	j.f.Unresolved = r.unresolved
	for i, s := range j.fresh {
		j.new(s, j.stubs[i], len(claims[i]) > 0)
	}
	c := newCover(r)
	stubs := map[*spot]int{}
	for i, s := range j.stubs {
		if s != nil {
			stubs[s] = i
		}
	}
	var rest []*spot
	for i := range j.was {
		s := &j.was[i]
		if s.kept || j.contained(s) {
			continue
		}
		j.f.Removed++
		if n, ok := stubs[s]; ok && j.replaced(s, j.fresh[n].piece, len(claims[n]) > 0) {
			continue
		}
		if !j.recovered(c.find(s.piece)) {
			rest = append(rest, s)
		}
	}
	for _, s := range rest {
		if !j.recovered(c.similar(s.piece)) {
			j.lost(s, "no Ref that is named leads to it")
		}
	}
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// claims returns the Refs that a new part names: all that has the form of one, but
// what cannot be loaded and stands in the raw body.
func (j *judgement) claims(p *piece) []string {
	var out []string
	for _, w := range p.words() {
		if _, err := j.blob(w, j.Load); err == nil || !j.stands(w) {
			out = append(out, w)
		}
	}
	return out
}

// new judges a part that the raw body does not have.
func (j *judgement) new(s spot, stub *spot, named bool) {
	switch {
	case s.Kind == Tool:
		if !slices.Contains(j.Tools, s.Name) {
			j.inventf(s, "is no tool of the client")
		}
	case s.Kind == Result && !s.Hosted:
		switch {
		case stub == nil:
			j.inventf(s, "answers no call of the raw body")
		case !named && !j.isNote(s.Text):
			j.inventf(s, "replaces a result and names no Ref")
		case !sameBeside(s.piece.Part, stub.piece.Part):
			j.inventf(s, "has other members than the result that it replaces")
		}
	case s.Kind == Text:
		if !named && !j.isNote(s.Text) && !(isSystem(s.role) && j.isRest(s.Text)) {
			j.inventf(s, "is not in the raw body, names no Ref and is no note")
		}
	default:
		j.inventf(s, "is not in the raw body")
	}
}

func isSystem(role string) bool { return role == roleSystem || role == "developer" }

// isNote reports whether s is one of the engine's texts.
func (j *judgement) isNote(s string) bool {
	s = strings.TrimSpace(s)
	return slices.ContainsFunc(j.Notes, func(n string) bool { return strings.TrimSpace(n) == s })
}

// isRest reports whether a system prompt consists of what the raw body's says and
// of notes.
func (j *judgement) isRest(s string) bool {
	known := slices.Clone(j.Notes)
	for _, m := range j.raw.list {
		for _, p := range m.pieces {
			if isSystem(p.role) {
				known = append(known, p.Text)
			}
		}
	}
	sort.SliceStable(known, func(a, b int) bool { return len(known[a]) > len(known[b]) })
	for _, k := range known {
		if k = strings.TrimSpace(k); k != "" {
			s = strings.Replace(s, k, "", 1)
		}
	}
	return strings.TrimSpace(s) == ""
}

// contained reports whether a part of the system prompt stands in a longer one.
func (j *judgement) contained(s *spot) bool {
	if s.Kind != Text || !isSystem(s.role) || plain(s.piece.Part) == nil {
		return false
	}
	return slices.ContainsFunc(j.fresh, func(n spot) bool {
		return n.Kind == Text && isSystem(n.role) && strings.Contains(n.Text, s.Text)
	})
}

// sameBeside reports whether two results differ in nothing but their content.
func sameBeside(a, b Part) bool {
	x, y := members(without(a.Raw, "cache_control")), members(without(b.Raw, "cache_control"))
	if either(x, geminiResult) != nil {
		return sameGemini(x, y)
	}
	drop := func(m member) bool { return m.name == "content" || m.name == "output" }
	return sameMembers(slices.DeleteFunc(x, drop), slices.DeleteFunc(y, drop))
}

func sameMembers(x, y []member) bool {
	return slices.EqualFunc(x, y, func(a, b member) bool { return a.name == b.name && bytes.Equal(a.value, b.value) })
}

// replaced judges a result that is shown in another form, and reports whether there
// is nothing more to be said of it. One that names Refs must lead to what it replaces
// by itself, whatever the journal says: a model goes by what it sees.
func (j *judgement) replaced(s *spot, by *piece, named bool) bool {
	switch {
	case j.namesOwn(s.piece, by):
		j.f.Covered.Own++
	case j.expands(by, s.piece, j.Load):
		j.f.Covered.Expanded++
	case named:
		j.lost(s, "what stands in its place names other content")
	default:
		return false
	}
	return true
}

// namesOwn reports whether by names stored content that is p's.
func (j *judgement) namesOwn(p, by *piece) bool {
	return slices.ContainsFunc(by.words(), func(w string) bool {
		return slices.Contains(p.names(), w) && j.blobs[w] != nil
	})
}

// recovered counts a part that can be got at.
func (j *judgement) recovered(w way) bool {
	switch w {
	case byName:
		j.f.Covered.Named++
	case byJournal:
		j.f.Covered.Journal++
	}
	return w != 0
}

func (j *judgement) lost(s *spot, why string) {
	j.f.Uncovered = append(j.f.Uncovered, Uncovered{s.Place, s.Kind, s.CallID, short(s.piece.Part), why})
}
