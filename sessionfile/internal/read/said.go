package read

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// UserMessage returns a message in the user's role that the file does not mark as
// the client's own: who wrote it, and whether it carries standing instructions, is
// told by its parts.
func UserMessage(parts []llm.Part, dialect llm.Dialect) llm.Message {
	return wire.Said(llm.Message{Role: llm.RoleUser, Parts: parts, Dialect: dialect})
}

// IsRulesFile reports whether a path names a file of standing instructions.
func IsRulesFile(path string) bool {
	base := path[strings.LastIndexAny(path, `/\`)+1:]
	switch strings.ToUpper(base) {
	case "CLAUDE.MD", "CLAUDE.LOCAL.MD", "AGENTS.MD", "GEMINI.MD":
		return true
	}
	return false
}
