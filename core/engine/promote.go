package engine

// Promote offers tools that are left out, from the next request on: until the policy chooses
// anew which are. Names of tools that are offered, or that there are not, say nothing.
type Promote struct{ Names []string }

func (Promote) input() {}

func (m *keeper) feedPromote(in Promote) { m.promote(in.Names) }
