package main

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

// A record is what one source says about one model of one maker.
type record struct {
	source, maker     string
	raw               string // id as the source has it
	match             bool   // raw is a name that the source takes for another model's
	window, output    int    // 0: not stated
	input             int    // most tokens of a prompt; 0: not stated
	reasoning, vision bool
	priced            bool // input and output are stated
	hourly            bool // what it costs depends on the hour
	tiers             []catalog.Tier
}

// base returns the prices of a short prompt.
func (r record) base() catalog.Prices {
	if len(r.tiers) == 0 {
		return catalog.UnknownPrices()
	}
	return r.tiers[0].Prices
}

// sameBase reports whether r asks the same as p for input and output.
func (r record) sameBase(p catalog.Prices) bool {
	b := r.base()
	return r.priced && b.Input == p.Input && b.Output == p.Output
}

// price turns dollars for a million tokens into a Price. Lists have figures such
// as 0.39999999999999997, which are rounded to a millionth of a dollar.
func price(dollars float64) catalog.Price { return catalog.Price(math.Round(dollars * 1e6)) }

// beginnings are how the names of a maker's models begin. A maker may sell
// others' models too, at prices of its own.
func beginnings(maker string) []string {
	return map[string][]string{
		"anthropic": {"claude-"}, "openai": {"gpt-", "o1", "o3", "o4", "codex-", "chatgpt-"}, "google": {"gemini-", "gemma-"},
		"xai": {"grok-"}, "deepseek": {"deepseek-"}, "moonshotai": {"kimi-", "moonshot-"}, "zai": {"glm-"},
		"alibaba": {"qwen", "qwq", "qvq"}, "minimax": {"minimax-"}, "llama": {"llama-"}, "cohere": {"command-"},
		"mistral": {"mistral-", "ministral-", "magistral-", "codestral", "devstral", "open-mi", "pixtral-"},
	}[maker]
}

// isTextModel reports whether a record is about a model of the maker's own that
// conversations are led with.
func (r record) isTextModel() bool {
	id := strings.ToLower(r.raw)
	for _, word := range []string{
		"embed", "tts", "audio", "image", "realtime", "transcribe", "moderation", "ocr", "live", "whisper", "ft:", "ft-", ".ft", "search",
		"computer-use", "omni", "asr", "-mt-", "voice", "-her", "robotics", "-exp", "character", "claude-v", "claude-1", "claude-2", "customtools",
		":", "translate", "vision-preview", "turbo-instruct", "gpt-3.5-0301", "-maas", "/", "multi-agent", "livetranslate", "imagine", "video",
	} {
		if strings.Contains(id, word) {
			return false
		}
	}
	moving := []string{"grok-latest", "gemini-flash-latest", "gemini-flash-lite-latest", "gemini-pro", "gpt-chat-latest"} // another model from time to time
	return !slices.Contains(moving, id) && slices.ContainsFunc(beginnings(r.maker), func(b string) bool { return strings.HasPrefix(id, b) })
}

// canonical returns the name under which the catalogue has a model: without the
// decorations that a look-up takes off anyway.
func canonical(maker, raw string) string {
	id := strings.ToLower(raw)
	if maker == "anthropic" {
		id = strings.ReplaceAll(id, ".", "-")
	}
	for {
		less := undated(maker, id)
		for _, suffix := range []string{"-latest", "-preview"} {
			less = strings.TrimSuffix(less, suffix)
		}
		if less == id {
			break
		}
		id = less
	}
	if to, ok := renamed()[id]; ok {
		return to
	}
	return id
}

// renamed are names that sources give to models of the catalogue.
func renamed() map[string]string {
	return map[string]string{
		"claude-opus-4-0": "claude-opus-4", "claude-sonnet-4-0": "claude-sonnet-4", "gemini-flash-1.5": "gemini-1.5-flash",
		"gemini-flash-1.5-8b": "gemini-1.5-flash-8b", "gemini-pro-1.5": "gemini-1.5-pro", "grok-4-0709": "grok-4",
		"claude-4-opus": "claude-opus-4", "claude-4-sonnet": "claude-sonnet-4", "gpt-35-turbo": "gpt-3.5-turbo",
	}
}

// undated takes a date off the end. Four digits are a date with one maker only:
// with the others they name a model of its own (mistral-large-2512).
func undated(maker, id string) string {
	shapes := []string{"-0000-00-00", "-00000000", "-00-0000"}
	switch maker {
	case "openai":
		shapes = append(shapes, "-0000")
	case "google":
		shapes = append(shapes, "-00-00", "-000")
	}
	for _, shape := range shapes {
		if cut := len(id) - len(shape); cut > 0 && hasShape(id[cut:], shape) {
			return id[:cut]
		}
	}
	return id
}

// hasShape reports whether s has the form of shape, in which 0 is any digit.
func hasShape(s, shape string) bool {
	for i := range len(shape) {
		if shape[i] == '0' {
			if _, err := strconv.Atoi(s[i : i+1]); err != nil {
				return false
			}
		} else if s[i] != shape[i] {
			return false
		}
	}
	return true
}
