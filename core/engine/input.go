package engine

// An Input is something that happened. The set is closed.
type Input interface{ input() }
