package aider

import (
	"regexp"
	"strings"

	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// room is how aider says that a call went beyond a limit; the sums that it works out follow.
var room = regexp.MustCompile(`^Total tokens: ~?([\d,]+) of ([\d,]+) -- `)

// failed takes in a line in which aider tells of a call that came to nothing: an exception of
// the library that it calls models with, or a limit.
func (h *history) failed(no int, told string) {
	if m := room.FindStringSubmatch(told); m != nil {
		h.Fail(read.Outcome{Line: no, Words: "prompt is too long: " + m[1] + " tokens > " + m[2] + " maximum"})
		return
	}
	words := strings.TrimPrefix(told, "Unexpected error: ")
	if name, _, ok := strings.Cut(words, ": "); ok && strings.HasPrefix(name, "litellm.") && strings.Count(name, ".") == 1 {
		h.Fail(read.Outcome{Line: no, Words: words, Code: strings.TrimPrefix(name, "litellm.")})
	}
}
