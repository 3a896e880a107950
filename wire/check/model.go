package check

import (
	"regexp"
	"strconv"
	"strings"
)

// A claude is what the rules need to know of a Claude model: its family and version, read from its name. The zero claude is a model that is
// not known; no rule that binds certain models binds it.
type claude struct {
	family       string
	major, minor int
}

// claudeName matches names such as claude-opus-4-8, claude-sonnet-4-5-20250929 and eu.anthropic.claude-haiku-4-5-20251001-v1:0. Names of the third
// generation have the version first; to the rules here they are all one.
var claudeName = regexp.MustCompile(`claude-(opus|sonnet|haiku|fable|mythos)-(\d{1,2})(?:[-.](\d{1,2}))?(?:[^\d].*)?$`)

func parseClaude(model string) claude {
	model = strings.ToLower(model)
	if strings.Contains(model, "claude-3") {
		return claude{family: "sonnet", major: 3}
	}
	m := claudeName.FindStringSubmatch(model)
	if m == nil {
		return claude{}
	}
	major, _ := strconv.Atoi(m[2]) // the pattern has only digits there
	minor, _ := strconv.Atoi(m[3]) // or nothing, which is 0
	return claude{family: m[1], major: major, minor: minor}
}

// from reports whether a model is a version or a later one.
func (c claude) from(major, minor int) bool {
	return c.family != "" && (c.major > major || c.major == major && c.minor >= minor)
}

// noPrefill reports whether a model refuses a conversation that ends with the assistant: Claude 4.6 and later (Anthropic, "What's new in
// Claude 4.6", prefill removal).
func (c claude) noPrefill() bool { return c.from(4, 6) }

// noForcedTool reports whether a model refuses a forced tool while it may think (Anthropic, "Thinking in tool and multi-turn workflows").
func (c claude) noForcedTool() bool {
	switch c.family {
	case "opus", "sonnet":
		return c.from(5, 5)
	case "fable", "mythos":
		return c.from(5, 1)
	}
	return false
}

// noMidSystem reports whether a model is known to refuse a system message inside a conversation (Anthropic, "Mid-conversation system
// messages": Opus from 4.8, Fable and Mythos from 5, Sonnet and Haiku from 5.5).
func (c claude) noMidSystem() bool {
	switch c.family {
	case "opus":
		return !c.from(4, 8)
	case "sonnet", "haiku":
		return !c.from(5, 5)
	}
	return false
}

// geminiName matches names such as gemini-3-pro-preview and gemini-2.5-flash.
var geminiName = regexp.MustCompile(`gemini-(\d{1,2})(?:[.-]|$)`)

// signsCalls reports whether a Gemini model demands the thought signature of a model turn's first call: from Gemini 3.
func signsCalls(model string) bool {
	m := geminiName.FindStringSubmatch(strings.ToLower(model))
	if m == nil {
		return false
	}
	major, _ := strconv.Atoi(m[1]) // the pattern has only digits there
	return major >= 3
}
