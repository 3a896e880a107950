package inspect

// talk writes the conversation.
func (r *reading) talk() {
	for _, g := range r.segments {
		t := Talk{Segment: g.number, Said: make([]Said, 0, len(g.Entries))}
		next := 0
		for i, e := range g.Entries {
			for next < len(g.steps) && g.steps[next].entry <= i {
				next++
			}
			s := Said{Message: i + 1, Origin: e.Message.Origin.String(), Line: e.Line, Time: e.Time, Tokens: totalOf(g.sizes[i]).Total()}
			if next < len(g.steps) {
				s.Step = next + 1
			}
			for k, p := range e.Message.Parts {
				part := g.part(place{i, k}, p)
				s.Parts = append(s.Parts, SaidPart{part.Kind, part.Name, part.Error, part.Text})
			}
			t.Said = append(t.Said, s)
		}
		if prev, ok := before(r.segments[:g.number-1], g); ok && isCut(g.Start) {
			was := alignment(prev, len(prev.Entries), g, g.carriedOver(prev))
			for _, i := range was.removed {
				t.Gone = append(t.Gone, i+1)
			}
			for _, p := range was.changed {
				t.Gone, t.New = append(t.Gone, p[0]+1), append(t.New, p[1]+1)
			}
			for _, i := range was.added {
				t.New = append(t.New, i+1)
			}
		}
		r.report.Talk = append(r.report.Talk, t)
	}
}
