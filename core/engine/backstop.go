package engine

// backstop reduces the view, step by step, until it fits or is the floor. Where there
// are too many bytes or images, media go first, the oldest before the newest. Then
// text: older outputs to one line and older messages into the archive, the notes among
// the newest messages, summaries, the newest outputs, summaries in the system prompt. Media of
// pinned messages go last.
func (m *reducer) backstop() {
	before := len(m.journal)
	m.media(reachOlder)
	m.media(reachNewest)
	if m.pinnedMediaFirst() {
		m.media(reachPinned)
	}
	m.reduceText()
	m.media(reachPinned)
	m.stats.Backstop += len(m.journal) - before
}
