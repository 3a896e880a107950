package scriptmodel

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/wire"
)

// size holds the request against window and output of its model, each provider in its way.
func (x *exchange) size() *wire.Error {
	window, output := x.limits()
	tokens, asked := x.prompt.Tokens(), x.asked()
	if output > 0 && asked > output {
		return x.outputTooBig(asked, output)
	}
	if window <= 0 || x.route.action != actReply {
		return nil // counting and compacting have no window of their own here
	}
	if tokens > window && !x.truncates() {
		return x.promptTooLong(tokens, window)
	}
	if asked > 0 && tokens+asked > window && x.countsOutput() {
		return x.sumTooLong(tokens, asked, window)
	}
	return nil
}

// limits returns window and output of the model; 0: no limit. One dialect lets the request
// say how large the window is.
func (x *exchange) limits() (window, output int) {
	window, output = x.script.limits(x.r.Model)
	if own := int(x.field("options.num_ctx").Int()); x.route.dialect == native && own > 0 && (window == 0 || own < window) {
		window = own
	}
	return window, output
}

// seen returns the tokens of the prompt that the model sees: all, but where it is cut.
func (x *exchange) seen() int {
	if window, _ := x.limits(); window > 0 {
		return min(x.prompt.Tokens(), window)
	}
	return x.prompt.Tokens()
}

// asked returns the tokens that the client wants at most.
func (x *exchange) asked() int {
	if x.r.MaxOutput > 0 {
		return x.r.MaxOutput
	}
	return int(x.field("max_completion_tokens").Int())
}

// truncates reports whether the server would cut the prompt in place of refusing it: always
// the one dialect that does so unless told not to, and another where the request asks.
func (x *exchange) truncates() bool {
	switch x.route.dialect {
	case native:
		truncate := x.field("truncate")
		return !truncate.Exists() || truncate.Bool()
	case responses:
		return x.field("truncation").String() == "auto"
	}
	return false
}

// countsOutput reports whether prompt and wanted output have to fit together.
func (x *exchange) countsOutput() bool {
	return x.route.dialect == chat || x.script.Strict && x.route.dialect == messages
}

func (x *exchange) tooLong(message, param string, used, window int) *wire.Error {
	e := x.bad(message, param)
	e.Class, e.Used, e.Window = wire.TooLong, used, window
	if x.route.dialect == chat || x.route.dialect == responses {
		e.Code = "context_length_exceeded"
	}
	return e
}

// promptTooLong returns the error of a prompt that is too long by itself, worded as each
// provider does.
func (x *exchange) promptTooLong(tokens, window int) *wire.Error {
	switch x.route.dialect {
	case messages:
		return x.tooLong(fmt.Sprintf("prompt is too long: %d tokens > %d maximum", tokens, window), "", tokens, window)
	case chat:
		message := fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. "+
			"Please reduce the length of the messages.", window, tokens)
		return x.tooLong(message, "messages", tokens, window)
	case responses:
		message := "Your input exceeds the context window of this model. Please adjust your input and try again."
		return x.tooLong(message, "input", 0, 0)
	case generate:
		message := fmt.Sprintf("The input token count (%d) exceeds the maximum number of tokens allowed (%d).", tokens, window)
		return x.tooLong(message, "", tokens, window)
	}
	return x.tooLong("the input length exceeds the context length", "", 0, 0)
}

// sumTooLong returns the error of a prompt that leaves too little room for the output.
func (x *exchange) sumTooLong(tokens, asked, window int) *wire.Error {
	if x.route.dialect == messages {
		message := fmt.Sprintf("input length and `max_tokens` exceed context limit: %d + %d > %d, "+
			"decrease input length or `max_tokens` and try again", tokens, asked, window)
		return x.tooLong(message, "", tokens, window)
	}
	message := fmt.Sprintf("This model's maximum context length is %d tokens. However, you requested %d tokens "+
		"(%d in the messages, %d in the completion). Please reduce the length of the messages or completion.",
		window, tokens+asked, tokens, asked)
	return x.tooLong(message, "messages", tokens+asked, window)
}

func (x *exchange) outputTooBig(asked, output int) *wire.Error {
	switch x.route.dialect {
	case messages:
		message := "max_tokens: %d > %d, which is the maximum allowed number of output tokens for %s"
		return x.bad(fmt.Sprintf(message, asked, output, x.r.Model), "")
	case generate:
		message := "Unable to submit request because it has a maxOutputTokens value of %d but the supported range is from 1 (inclusive) to %d (exclusive)."
		return x.bad(fmt.Sprintf(message, asked, output+1), "")
	case native:
		return nil // it stops where it has to
	}
	message := "max_tokens is too large: %d. This model supports at most %d completion tokens, whereas you provided %d."
	return coded(x.bad(fmt.Sprintf(message, asked, output, asked), "max_tokens"), "invalid_value")
}

// room returns the tokens that the reply may have, 0 for no limit, and whether it is the
// window that sets it.
func (x *exchange) room() (tokens int, byWindow bool) {
	window, output := x.limits()
	for _, limit := range []int{output, x.asked()} {
		if limit > 0 && (tokens == 0 || limit < tokens) {
			tokens = limit
		}
	}
	if left := max(window-x.prompt.Tokens(), 1); window > 0 && (tokens == 0 || left < tokens) {
		return left, true
	}
	return tokens, false
}
