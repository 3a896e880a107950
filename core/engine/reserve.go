package engine

import "fmt"

// A Grant says what became of a Reserve.
type Grant string

// What becomes of one.
const (
	GrantHeld   Grant = "held"    // the room is held
	GrantNoRoom Grant = "no_room" // there is none
)

// feedReserve holds room for an output, if there is any. Where not even a handle has
// room, and the policy ends there, the tool budget is exceeded.
func (m *Machine) feedReserve(in Reserve) error {
	switch {
	case in.Tokens < 0:
		return fmt.Errorf("engine: reserve: want 0 tokens or more, got %d", in.Tokens)
	case m.out.Grant != "":
		return fmt.Errorf("engine: reserve: want Ready for the answer to the one before, got another")
	}
	if m.PreviewOutput(in.Tokens) {
		m.guard.Hold(in.Tokens)
		m.out.Grant = GrantHeld
		return nil
	}
	m.out.Grant = GrantNoRoom
	if m.ends() && m.guard.CanExecute() && !m.handleFits() {
		m.exceed()
		m.event(EventToolBudget, "", "not even a handle has room: the tool budget is exceeded")
	}
	return nil
}

func (m *Machine) feedRelease(in Release) error {
	if in.Tokens < 0 {
		return fmt.Errorf("engine: release: want 0 tokens or more, got %d", in.Tokens)
	}
	m.guard.Release(in.Tokens)
	return nil
}

// handleTokens is what a handle takes: the guard document's has some 80 tokens.
const handleTokens = 100

// handleFits reports whether a handle has room if nothing that is reserved comes.
func (m *Machine) handleFits() bool {
	held := m.guard.Reserved()
	m.guard.Release(held)
	defer m.guard.Hold(held)
	return m.guard.Preview(m.targets, handleTokens)
}

// reserved lets an output take the room that was held for it while f appends it. If it
// is refused the room is still held.
func (m *Machine) reserved(tokens int, f func() error) error {
	m.granted = max(tokens, 0)
	defer func() { m.granted = 0 }()
	m.guard.Release(m.granted)
	err := f()
	if err != nil {
		m.guard.Hold(m.granted)
	}
	return err
}
