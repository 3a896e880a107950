package store

import "github.com/plimsoll-dev/plimsoll/core/llm"

// Corrupt damages what a Memory holds. Forks share records with their parents, but each
// has a list of its own; a damage of a parent's record is made in all of them.
type Corrupt struct{ M *Memory }

// Exchange lets each of two contents stand under the other's Ref.
func (c Corrupt) Exchange(one, other llm.Ref) {
	b := c.M.blobs
	b[one].data, b[other].data = b[other].data, b[one].data
}

// Swap lets each of two records of a session stand in the other's place.
func (c Corrupt) Swap(session string, i, j int) {
	own := c.M.sessions[session].records
	a, b := own[i], own[j]
	c.set(session, i, b)
	c.set(session, j, a)
}

// Copy puts record i of a session in place of record j of another.
func (c Corrupt) Copy(from string, i int, to string, j int) {
	c.set(to, j, c.M.sessions[from].records[i])
}

// Lose takes a record of a session away.
func (c Corrupt) Lose(session string, i int) { c.set(session, i, record{}) }

// SwapSnapshots lets each of two snapshots stand in the other's place.
func (c Corrupt) SwapSnapshots(session string, i, j int) {
	own := c.M.sessions[session].snaps.own
	own[i], own[j] = own[j], own[i]
}

// set puts a record in a place, in every session that has the same one there.
func (c Corrupt) set(session string, at int, r record) {
	was := c.M.sessions[session]
	by := owner(was.line, at)
	for _, s := range c.M.sessions {
		if at < len(s.records) && owner(s.line, at) == by {
			s.records[at] = r
		}
	}
}
