package claudecode

// links say which lines make up one reply, and which results belong to it, as
// lists in which each record holds the next one.
type links struct {
	reply    []int32 // of a reply's line: its first line; of others themselves
	nextLine []int32 // of a reply's line: the next one, or none
	answer   []int32 // of a reply's first line: the first result of its calls, or none
	next     []int32 // of such a result, and of what hangs on it: the next one, or none
}

// newInts returns n times none.
func newInts(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = none
	}
	return out
}

// replies finds which lines make up one reply, and which results belong to it.
func (t *tree) replies() links {
	n := len(t.records)
	l := links{reply: newInts(n), nextLine: newInts(n), answer: newInts(n), next: newInts(n)}
	lastLine, lastAnswer := newInts(n), newInts(n)
	near := newInts(n)    // the reply line that a record follows with nothing but results and bookkeeping between
	answers := newInts(n) // the same, of results and what hangs on them
	type reply struct {
		message      id
		aside        bool
		conversation int32
	}
	first := map[reply]int32{}
	for i := range t.records {
		at := int32(i)
		rec := &t.records[i]
		l.reply[i] = at
		up := t.way.parent[i]
		if up >= at { // a parent that comes later in the file
			up = none
		}
		switch {
		case rec.kind == kindAssistant:
			near[i] = at
			said := reply{t.way.ids[i].message, !t.main(i), t.conversation(i)}
			if k, ok := first[said]; ok && !rec.has(isCopied) {
				l.reply[i] = k
			} else if said.message != (id{}) && !rec.has(isCopied) {
				first[said] = at
			}
			link(l.nextLine, lastLine, l.reply[i], at)
		case up < 0 || rec.kind == kindUser && !rec.has(hasResults):
		case rec.has(hasResults):
			near[i], answers[i] = near[up], near[up]
		default:
			near[i], answers[i] = near[up], answers[up]
		}
		if answers[i] < 0 || !t.main(i) || !rec.has(hasResults) && rec.kind != kindAttachment {
			continue
		}
		reply := l.reply[answers[i]]
		if l.answer[reply] == none {
			l.answer[reply] = at
		}
		link(l.next, lastAnswer, reply, at)
	}
	return l
}

// link puts a record behind the last one of the list that head has.
func link(next, last []int32, head, at int32) {
	if before := last[head]; before != none {
		next[before] = at
	}
	last[head] = at
}

// unit returns the records that become one message with record i: the lines of a
// reply, or one other line.
func (t *tree) unit(i int32) []int {
	var all []int
	for ; i != none; i = t.nextLine[i] {
		all = append(all, int(i))
	}
	return all
}

// order returns the first records of the units of a path in the order in which
// they were sent. A reply stands where its first line stands, with all its lines.
// Results that are not on the path follow their reply in the order of the file, and
// stand before anything but other results and attachments.
func (t *tree) order(path []int32) []int32 {
	on := make(map[int32]bool, len(path))
	for _, i := range path {
		on[i] = true
	}
	placed := map[int32]bool{}
	units := make([]int32, 0, len(path))
	waiting, end := int32(none), int32(len(t.records))
	place := func(before int32) {
		for ; waiting != none && waiting < before; waiting = t.next[waiting] {
			if !on[waiting] {
				units = append(units, waiting)
			}
		}
	}
	for _, i := range path {
		rec := &t.records[i]
		switch {
		case rec.kind == kindAssistant && placed[t.reply[i]]:
		case rec.kind == kindAssistant:
			place(end)
			placed[t.reply[i]] = true
			units = append(units, t.reply[i])
			waiting = t.answer[t.reply[i]]
		case rec.boundary == microBoundary, rec.kind == kindUser && !rec.has(hasResults), rec.kind == kindCommand:
			place(end)
			units = append(units, i)
		case rec.kind != kindLink:
			place(i)
			units = append(units, i)
		}
	}
	place(end)
	return units
}
