// Package overflow knows by which words providers say that a prompt is longer than the
// window. Dialects are relayed: a gateway answers in one dialect with the words of the
// provider behind it, so that each codec has to know the words of all. A codec asks here
// after it has looked for what only its own dialect says.
package overflow

import (
	"cmp"
	"slices"
	"strings"
)

// codes are the codes and types of errors (OpenAI, llama.cpp, and servers that speak their
// dialect), in lower case.
var codes = []string{"context_length_exceeded", "exceed_context_size_error", "max_tokens_exceeded", "input_too_long", "context_window_exceeded"}

// words are what only the message tells, in lower case (Anthropic, Bedrock, OpenAI, Azure,
// vLLM, llama.cpp, LM Studio, OpenRouter, Gemini, Ollama, Moonshot, MiniMax, z.ai).
var words = []string{
	"maximum context length", "exceeds the context window", "exceed context window", "exceeds the available context size",
	"context length exceeded", "exceeds the maximum context", "exceeds context ", "exceeds the model's context", "context window exceeded",
	"prompt is too long", "input is too long", "prompt too long", "input token count", "maximum prompt length", "max_model_len",
	"exceeds the maximum number of tokens", "is longer than the maximum model length", "the input length exceeds", "when context the overflows",
	"greater than the context length", "too many tokens", "exceeds maximum allowed token", "max_tokens must be at least 1, got -",
	"exceed context limit", "exceeded model token limit", "context window exceeds limit", "prompt exceeds max length",
	"exceeds the context length", "input tokens exceed", "maximum number of input tokens",
}

// Code reports whether an error's code or type says that the prompt is too long.
func Code(word string) bool { return slices.Contains(codes, strings.ToLower(word)) }

// Said reports whether a message, as [Plain] has it, says that the prompt is too long.
func Said(plain string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(plain, w) })
}

// An Error is what a provider's error says in words.
type Error struct{ Type, Code, Message string }

// Read reports whether e says by its code, its type or its message that the prompt is too
// long, and then fills in the figures that its message states and that are not known yet.
// Where the class of an error is known, messages should count only if it leaves them room:
// what a limit on the rate or an overloaded server says about tokens is not that.
func (e Error) Read(used, window *int) bool {
	plain := Plain(e.Message)
	if !Code(e.Code) && !Code(e.Type) && !Said(plain) {
		return false
	}
	statedUsed, statedWindow := Figures(plain)
	*used, *window = cmp.Or(*used, statedUsed), cmp.Or(*window, statedWindow)
	return true
}

// Figures returns the tokens that the prompt has and those of the window, as a message that
// [Plain] returned states them; 0 for what it does not state. Where it also states the
// output that was asked for, only the prompt counts: "(A in the messages, B in the
// completion)", "A + B > C".
func Figures(plain string) (used, window int) {
	if _, sum, ok := strings.Cut(plain, "exceed context limit: "); ok {
		_, limit, _ := strings.Cut(sum, " > ")
		return leadingNumber(sum), leadingNumber(limit)
	}
	window = firstAfter(plain,
		"maximum context length is ", "maximum context length of ", "maximum prompt length is ", "context length is only ", "exceed context window of ",
		"maximum model length of ", "maximum number of tokens allowed (", "maximum number of tokens allowed ", "maximum of ", "context size (",
		"context length of only ", "model token limit: ", "only supports up to ", "tokens > ", "context: ")
	if used = inBrackets(plain); used > 0 {
		return used, window
	}
	used = firstAfter(plain,
		"resulted in ", "prompt contains at least ", "prompt contains ", "your request has ", "requested about ", "you requested ", "prompt is too long: ",
		"requested tokens (", "(requested: ", "input token count (", "input token count is ", "request contains ", "keep the first ", "prompt (length ",
		"input (", "request (")
	return used, window
}

func firstAfter(plain string, words ...string) int {
	for _, w := range words {
		if n := After(plain, w); n > 0 {
			return n
		}
	}
	return 0
}

// inBrackets adds up the prompt's pieces in "(A in the messages, B in the functions, and C
// in the completion)" and "(A of text input, B of tool input, C in the output)".
func inBrackets(plain string) int {
	_, rest, ok := strings.Cut(plain, " tokens (")
	inner, _, closed := strings.Cut(rest, ")")
	if !ok || !closed {
		return 0
	}
	sum := 0
	for piece := range strings.SplitSeq(inner, ",") {
		piece = strings.TrimPrefix(strings.TrimSpace(piece), "and ")
		if strings.Contains(piece, "completion") || strings.Contains(piece, "output") {
			continue
		}
		if strings.Contains(piece, " in the ") || strings.Contains(piece, " of ") || strings.Contains(piece, "prompt") {
			sum += leadingNumber(piece)
		}
	}
	return sum
}

// After returns the number that follows words in a text that [Plain] returned; 0 if none does.
func After(plain, words string) int {
	for {
		_, rest, ok := strings.Cut(plain, words)
		if !ok {
			return 0
		}
		if n := leadingNumber(rest); n > 0 {
			return n
		}
		plain = rest
	}
}

// Plain returns text in lower case without the commas that stand within numbers.
func Plain(text string) string {
	text = strings.ToLower(text)
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
	out := make([]byte, 0, len(text))
	for i := range len(text) {
		if text[i] == ',' && i > 0 && i+1 < len(text) && isDigit(text[i-1]) && isDigit(text[i+1]) {
			continue
		}
		out = append(out, text[i])
	}
	return string(out)
}

// leadingNumber returns the number that text begins with.
func leadingNumber(text string) int {
	const most = 15 // digits that fit
	n := 0
	for i, c := range []byte(text) {
		if c < '0' || c > '9' || i == most {
			break
		}
		n = n*10 + int(c-'0')
	}
	return n
}
