package anthropic

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/wire"
)

// A wording is a text by which an error is known. In pattern, which is in lower case, #
// stands for a number; used and window say which of the numbers, counted from 1, are
// which, 0 if the text does not state it.
type wording struct {
	pattern      string
	class        wire.Class
	used, window int
}

// wordings are tried in order, so those with figures come first. They are what the API
// answered, and what users of other programs reported of it. Bedrock, Vertex, llama.cpp,
// vLLM, OpenRouter, Moonshot, z.ai and MiniMax serve this format in their own words; those
// for a prompt that is too long are in package overflow.
var wordings = [...]wording{
	{"prompt is too long: # tokens > # maximum", wire.TooLong, 1, 2},
	{"input length and `max_tokens` exceed context limit: # + # > #", wire.TooLong, 1, 3},
	{"request exceeds the maximum size", wire.TooLarge, 0, 0},
	{"request entity too large", wire.TooLarge, 0, 0},
	{"exceeds # mb maximum", wire.TooLarge, 0, 0}, // one image

	{"invalid `signature` in `thinking` block", wire.BadThinking, 0, 0},
	{"invalid signature in thinking block", wire.BadThinking, 0, 0},
	{"the block is bound to a different conversation", wire.BadThinking, 0, 0},
	{"in the latest assistant message cannot be modified", wire.BadThinking, 0, 0},
	{"thinking.signature: field required", wire.BadThinking, 0, 0},
	{"invalid `data` in `redacted_thinking` block", wire.BadThinking, 0, 0},

	{"credit balance is too low", wire.Billing, 0, 0},
	{"reached your specified api usage limits", wire.Billing, 0, 0},
	{"you have reached your specified workspace api usage limits", wire.Billing, 0, 0},

	{"too many tokens, please wait", wire.RateLimited, 0, 0}, // Bedrock
}

// classOfText returns the class that the message of e says, and puts the figures into e.
func classOfText(e *wire.Error) (wire.Class, bool) {
	text := strings.ToLower(e.Message)
	for i := range wordings {
		w := &wordings[i]
		numbers, ok := match(text, w.pattern)
		if !ok {
			continue
		}
		if w.used > 0 {
			e.Used = numbers[w.used-1]
		}
		if w.window > 0 {
			e.Window = numbers[w.window-1]
		}
		return w.class, true
	}
	return wire.Unclassified, false
}

// match finds pattern in text and returns its numbers.
func match(text, pattern string) ([]int, bool) {
	pieces := strings.Split(pattern, "#")
	for rest := text; ; {
		_, after, found := strings.Cut(rest, pieces[0])
		if !found {
			return nil, false
		}
		if numbers, ok := matchRest(after, pieces[1:]); ok {
			return numbers, true
		}
		rest = after
	}
}

// matchRest reads a number and the piece behind it, for each piece.
func matchRest(text string, pieces []string) ([]int, bool) {
	numbers := make([]int, 0, len(pieces))
	for _, piece := range pieces {
		n, size := leadingNumber(text)
		if size == 0 || !strings.HasPrefix(text[size:], piece) {
			return nil, false
		}
		numbers, text = append(numbers, n), text[size+len(piece):]
	}
	return numbers, true
}

// leadingNumber reads the number that text begins with, with commas or not, and returns
// how long it is; 0 if there is none.
func leadingNumber(text string) (n, size int) {
	const most = 1 << 53
	for size < len(text) {
		c := text[size]
		switch {
		case c >= '0' && c <= '9' && n < most/10:
			n = n*10 + int(c-'0')
		case c == ',' && size > 0 && size+1 < len(text) && text[size+1] >= '0' && text[size+1] <= '9':
		default:
			return n, size
		}
		size++
	}
	return n, size
}

// textOf returns the message of e. That of a prompt which is too long is in the API's own
// words, for clients read the figures from them.
func textOf(e *wire.Error) string {
	if e.Class != wire.TooLong {
		if e.Message == "" {
			return e.Class.String()
		}
		return e.Message
	}
	for _, own := range []string{wordings[0].pattern, wordings[1].pattern} {
		if _, ok := match(strings.ToLower(e.Message), own); ok {
			return e.Message
		}
	}
	if e.Used == 0 || e.Window == 0 {
		return "prompt is too long"
	}
	return fmt.Sprintf("prompt is too long: %d tokens > %d maximum", e.Used, e.Window)
}
