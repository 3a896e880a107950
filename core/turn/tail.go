package turn

// LastTurns returns the position at which the last n Turns begin: 0 if there are
// no more than n, Len if n is not positive. It costs the same however many there
// are.
func (x *Index) LastTurns(n int) int {
	if n <= 0 {
		return x.length
	}
	if n >= len(x.humans) { // what stands before the first Human message belongs to Turn 1
		return 0
	}
	return x.humans[len(x.humans)-n]
}

// LastRounds returns the position at which the last n Rounds begin: 0 if there
// are fewer, Len if n is not positive. It costs the same however many there are.
func (x *Index) LastRounds(n int) int {
	if n <= 0 {
		return x.length
	}
	if n > len(x.rounds) {
		return 0
	}
	return x.rounds[len(x.rounds)-n].call
}
