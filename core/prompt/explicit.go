package prompt

import (
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// ExplicitPrefix returns how many of the items an explicit cache of the beginning of a prompt may hold:
// those before the newest message of a person, or Note, that follows a finished reply. So what
// is sent beside the resource is a conversation by itself, which begins with the user and of
// which no result lacks its call: no provider documents that it takes anything else. 0 says
// that only sections and tools can be kept.
func ExplicitPrefix(items []edit.Item) int {
	for i := len(items) - 1; i > 0; i-- {
		before := items[i-1].Message
		if items[i].Message.Role == llm.RoleUser && before.Role == llm.RoleAssistant && len(before.Calls()) == 0 {
			return i
		}
	}
	return 0
}
