package scriptmodel

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel/internal/prefix"
)

// signCalls gives the first call of a reply its proof, in the dialect that has it there. The
// neutral part has no place for it, so that it goes into the bytes of the part.
func signCalls(x *exchange, parts []llm.Part, last prefix.ID) []llm.Part {
	if x.route.dialect != generate {
		return parts
	}
	for i, p := range parts {
		c, ok := p.(llm.ToolCall)
		if !ok {
			continue
		}
		call := object("id", c.CallID, "name", c.Name, "args", rawJSON(c.Args))
		c.Data = object("functionCall", rawJSON(call), "thoughtSignature", x.seal(c.Name, last))
		parts[i] = c
		break
	}
	return parts
}
