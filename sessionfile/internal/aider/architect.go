package aider

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/chatlog"
)

// endOfThinking ends what a model thought. It is in the file, but not in what goes on.
const endOfThinking = "</thinking-content-"

// answered reports whether a text is the newest reply: then the architect's plan goes to
// the editor, which aider writes as if the user had said it.
func (h *history) answered(text string) bool {
	entries := h.log.Segment.Entries
	if h.outer != nil || len(entries) == 0 {
		return false
	}
	last := entries[len(entries)-1].Message
	if last.Origin != llm.Model {
		return false
	}
	reply := last.Text()
	if i := strings.LastIndex(reply, endOfThinking); i >= 0 {
		_, reply, _ = strings.Cut(reply[i:], ">")
	}
	return unbroken(reply) == unbroken(text)
}

// unbroken returns a text without spaces at the ends of its lines, and around it.
func unbroken(text string) string {
	all := strings.Split(text, "\n")
	for i, line := range all {
		all[i] = strings.TrimRight(line, " \t\r")
	}
	return strings.TrimSpace(strings.Join(all, "\n"))
}

// edit begins the conversation of an editor, which knows nothing of the architect's.
func (h *history) edit() {
	h.outer = h.log
	h.log = chatlog.New(h.Reading, fmt.Sprintf("%s, editor %d", h.name, len(h.editors)+1))
	h.editors = append(h.editors, h.log)
	h.reply = none
}

// back returns from the editor to the architect.
func (h *history) back() {
	if h.outer != nil {
		h.log, h.outer, h.reply = h.outer, nil, none
	}
}
