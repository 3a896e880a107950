package engine

import "fmt"

func (m *Machine) Dump() string {
	t := m.count[0]
	return fmt.Sprintf("anchor %+v\n removed %+v\n inserted %+v\n since %+v reply %d", t.anchor, t.removed, t.inserted, t.since, t.reply)
}
