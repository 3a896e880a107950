package engine

import "fmt"

// Reserve asks for room for a tool output that is on its way. Ready.Grant answers, before
// another one may be asked for. Without room the output may still come, as a handle; where not even
// that has room, and the policy ends there, the tool budget is exceeded. What is held ends
// with the output ([Append], [Stored]), with [Release], and at the latest with the next
// Prepare, by which every call has a result. It does not survive a restart: a tool that
// was running then is gone with its process.
type Reserve struct{ Tokens int }

func (Reserve) input() {}

// Release gives back what was held for an output that will not come.
type Release struct{ Tokens int }

func (Release) input() {}

// feedReserve holds room for an output, if there is any. Where not even a handle has
// room, and the policy ends there, the tool budget is exceeded.
func (m *intake) feedReserve(in Reserve) error {
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

func (m *intake) feedRelease(in Release) error {
	if in.Tokens < 0 {
		return fmt.Errorf("engine: release: want 0 tokens or more, got %d", in.Tokens)
	}
	m.guard.Release(in.Tokens)
	return nil
}

// handleTokens is what a handle takes: the guard document's has some 80 tokens.
const handleTokens = 100

// handleFits reports whether a handle has room if nothing that is reserved comes.
func (m *intake) handleFits() bool {
	held := m.guard.Reserved()
	m.guard.Release(held)
	defer m.guard.Hold(held)
	return m.guard.Preview(m.resolved, handleTokens)
}

// reserved lets an output take the room that was held for it while f appends it. If it
// is refused the room is still held.
func (m *intake) reserved(tokens int, f func() error) error {
	m.granted = max(tokens, 0)
	defer func() { m.granted = 0 }()
	m.guard.Release(m.granted)
	err := f()
	if err != nil {
		m.guard.Hold(m.granted)
	}
	return err
}
