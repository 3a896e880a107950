package sessionfile

// A unit is what becomes one message: the lines of one reply, or one other line.
type unit []int

// replies finds which lines make up one reply, and which results belong to it.
func (t *tree) replies() {
	n := len(t.records)
	t.reply = make([]int, n)
	t.lines, t.results = map[int][]int{}, map[int][]int{}
	near := make([]int, n)    // the reply line that a record follows with nothing but results and bookkeeping between
	answers := make([]int, n) // the same, of results and what hangs on them
	first := map[string]int{}
	for i := range t.records {
		rec := &t.records[i]
		t.reply[i], near[i], answers[i] = i, none, none
		up := t.parent[i]
		if up >= i { // a parent that comes later in the file
			up = none
		}
		switch {
		case rec.kind == kindAssistant:
			near[i] = i
			if k, ok := first[rec.msgID]; ok && t.main(i) {
				t.reply[i] = k
			} else if rec.msgID != "" && t.main(i) {
				first[rec.msgID] = i
			}
			t.lines[t.reply[i]] = append(t.lines[t.reply[i]], i)
		case up < 0 || rec.kind == kindUser && !rec.results:
		case rec.results:
			near[i], answers[i] = near[up], near[up]
		default:
			near[i], answers[i] = near[up], answers[up]
		}
		if answers[i] >= 0 && t.main(i) && (rec.results || rec.kind == kindAttachment) {
			reply := t.reply[answers[i]]
			t.results[reply] = append(t.results[reply], i)
		}
	}
}

// order returns the units of a path in the order in which they were sent. A
// reply stands where its first line stands, with all its lines. Results that are
// not on the path follow their reply in the order of the file, and stand before
// anything but other results and attachments.
func (t *tree) order(path []int) []unit {
	on := make(map[int]bool, len(path))
	for _, i := range path {
		on[i] = true
	}
	placed := map[int]bool{}
	var units []unit
	var waiting []int
	place := func(before int) {
		for len(waiting) > 0 && waiting[0] < before {
			if !on[waiting[0]] {
				units = append(units, unit{waiting[0]})
			}
			waiting = waiting[1:]
		}
	}
	for _, i := range path {
		rec := &t.records[i]
		switch {
		case rec.kind == kindAssistant && placed[t.reply[i]]:
		case rec.kind == kindAssistant:
			place(len(t.records))
			placed[t.reply[i]] = true
			units = append(units, t.lines[t.reply[i]])
			waiting = t.results[t.reply[i]]
		case rec.boundary == microBoundary, rec.kind == kindUser && !rec.results, rec.kind == kindCommand:
			place(len(t.records))
			units = append(units, unit{i})
		case rec.kind != kindLink:
			place(i)
			units = append(units, unit{i})
		}
	}
	place(len(t.records))
	return units
}
