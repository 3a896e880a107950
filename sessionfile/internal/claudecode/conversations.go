package claudecode

// sessions are the ids of the sessions in a file, in the order in which they come.
type sessions struct {
	names []string
	known map[string]int32
	last  int32 // the one of the newest line
}

// add takes in the id on a line.
func (s *sessions) add(name string) {
	n, ok := s.known[name]
	if !ok {
		n = int32(len(s.names))
		if s.known == nil {
			s.known = map[string]int32{}
		}
		s.known[name] = n
		s.names = append(s.names, name)
	}
	s.last = n
}

// joined says which sessions are one conversation, each by another one of it or by itself.
type joined struct {
	names []string
	to    []int32
}

func newJoined(s sessions) joined {
	j := joined{s.names, make([]int32, max(1, len(s.names)))}
	for i := range j.to {
		j.to[i] = int32(i)
	}
	return j
}

// of returns the session that stands for the conversation of a session.
func (j *joined) of(s int32) int32 {
	for j.to[s] != s {
		j.to[s] = j.to[j.to[s]]
		s = j.to[s]
	}
	return s
}

// join makes the conversations of two sessions one, for which the earlier one stands.
func (j *joined) join(a, b int32) {
	a, b = j.of(a), j.of(b)
	j.to[max(a, b)] = min(a, b)
}

// conversation returns the session that stands for a record's conversation.
func (t *tree) conversation(i int) int32 { return t.way.joined.of(t.way.ids[i].session) }

// join finds which sessions are one conversation: a session that was taken up again goes on
// from a line of the other one. A file that was put together of several has a root for each.
func (t *tree) join() {
	w := t.way
	said := make([]bool, len(w.joined.to))
	last := none // the newest line of any conversation
	for i := range t.records {
		if !t.main(i) {
			continue
		}
		own := w.ids[i].session
		switch from := t.goesOnFrom(i); {
		case from >= 0:
			w.joined.join(own, w.ids[from].session)
		case from == isBroken && t.leads(i) && last >= 0 && !said[own]:
			w.joined.join(own, w.ids[last].session)
		}
		for _, k := range t.keeps[i] {
			if k >= 0 {
				w.joined.join(own, w.ids[k].session)
			}
		}
		if t.records[i].said() {
			last, said[own] = i, true
		}
	}
}

// leads reports whether a conversation may go on over a record: bookkeeping that names no
// parent stands for itself.
func (t *tree) leads(i int) bool {
	rec := &t.records[i]
	return rec.said() || rec.boundary == compactBoundary || rec.has(hasParent)
}

// goesOnFrom returns the record that a record names as the one before it, isRoot if it begins
// a conversation, and isBroken if it goes on from what is not in the file.
func (t *tree) goesOnFrom(i int) int {
	w, rec := t.way, &t.records[i]
	if rec.boundary == compactBoundary {
		f := t.line(i)
		if p, ok := t.named(idOf(f.logical)); ok {
			return p
		}
	}
	if w.parent[i] == isRoot && (rec.boundary == compactBoundary || rec.has(isSummary)) {
		return isBroken
	}
	return int(w.parent[i])
}

// A talk is one conversation of a file.
type talk struct {
	name string // empty if it is the only one
	leaf int    // its last record
}

// conversations returns those that the file holds, in the order in which they begin. Each is
// named as the session of its last line is.
func (t *tree) conversations() []talk {
	var all []talk
	at := map[int32]int{}
	for i := range t.records {
		if !t.main(i) || !t.records[i].said() {
			continue
		}
		c := t.conversation(i)
		n, ok := at[c]
		if !ok {
			n = len(all)
			at[c], all = n, append(all, talk{})
		}
		all[n].leaf = i
	}
	for i := range all {
		if len(all) > 1 && len(t.way.joined.names) > 0 {
			all[i].name = t.way.joined.names[t.way.ids[all[i].leaf].session]
		}
	}
	return all
}
