package raw

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Base returns the bytes of the part that p replaced, nil if it replaced none.
func Base(p llm.Part) []byte {
	switch p := p.(type) {
	case llm.Text:
		return p.Base
	case llm.Stub:
		return p.Base
	case llm.ToolCall:
		return p.Base
	case llm.ToolResult:
		return p.Base
	}
	return nil
}

// Arguments returns the arguments of a call as the object that most formats want: what is
// none, such as the free text of a custom tool, becomes its member "input".
func Arguments(args string) []byte {
	trimmed := strings.Trim(args, " \t\r\n")
	if trimmed == "" {
		return []byte("{}")
	}
	if Check([]byte(trimmed)) != nil {
		return new(Object).Text("input", args).Bytes()
	}
	if trimmed[0] != '{' {
		return new(Object).Raw("input", []byte(trimmed)).Bytes()
	}
	return []byte(trimmed)
}
