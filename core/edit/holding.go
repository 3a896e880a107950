package edit

// Holding returns the edits of a journal that hold: no later one supersedes them. What a
// [Undo] takes back has not been done, so that what it had superseded holds again. The
// order stays.
func Holding(journal []Edit) []Edit {
	gone, undone := map[ID]bool{}, map[ID]bool{}
	for i := len(journal) - 1; i >= 0; i-- {
		e := journal[i]
		if undone[e.ID] {
			continue
		}
		for _, old := range e.Supersedes {
			if e.Op == Undo {
				undone[old] = true
			} else {
				gone[old] = true
			}
		}
	}
	var out []Edit
	for _, e := range journal {
		if !gone[e.ID] && !undone[e.ID] {
			out = append(out, e)
		}
	}
	return out
}
