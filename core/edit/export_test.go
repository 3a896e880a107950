package edit

// Quoted returns s as archives write it.
func Quoted(s string) string { return string(quoted(nil, s)) }

// DropInSteps is [Scene.DropUntil] of the last need, asked for the others before it.
func (s Scene) DropInSteps(needs []int, kind Kind, why string) Plan {
	d := s.tallied().dropping(kind, why)
	var p Plan
	for _, need := range needs {
		p = d.until(need)
	}
	return p
}
