package builtin

import (
	"context"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A tool is one that a model can call.
type tool struct {
	name   string // package policy's
	about  string
	schema string
	run    func(ctx context.Context, v *visit) Answer
}

// tools returns all that there are. Descriptions are paid for with every request: they say
// what a model needs to call it well, and no more. Schemas use nothing but type, enum,
// description and required, which all providers take.
func tools() []tool {
	return []tool{
		{
			policy.ToolOutputCache,
			"Read a stored tool output by lines, numbered from 1.",
			schema(`"ref_id":{"type":"string"},"offset":{"type":"integer","description":"lines to skip"},`+
				`"limit":{"type":"integer","description":"lines at most"}`, `"ref_id"`),
			readLines,
		},
		{
			policy.ToolOutputCacheGrep,
			"Find the lines of a stored tool output that contain a text, or match an RE2 pattern if regex is true.",
			schema(`"ref_id":{"type":"string"},"pattern":{"type":"string"},"regex":{"type":"boolean"},`+
				`"before":{"type":"integer","description":"lines of context"},"after":{"type":"integer"},`+
				`"max_matches":{"type":"integer","description":"default 50"}`, `"ref_id","pattern"`),
			grep,
		},
		{
			policy.ToolOutputCacheLine,
			"Read a part of one long line of a stored tool output.",
			schema(`"ref_id":{"type":"string"},"line_number":{"type":"integer","description":"from 1"},`+
				`"char_offset":{"type":"integer","description":"characters to skip"},`+
				`"char_limit":{"type":"integer","description":"default 10000"}`, `"ref_id","line_number"`),
			readLine,
		},
		{
			policy.ToolReadResult,
			"Read a part of a stored tool result.",
			schema(`"ref_id":{"type":"string"},"offset":{"type":"integer","description":"bytes to skip"},`+
				`"limit":{"type":"integer","description":"bytes, default 4096"}`, `"ref_id"`),
			readBytes,
		},
		{
			policy.ToolOutput,
			"Get from a stored tool output what you need: say in extract precisely what that is.",
			schema(`"handle":{"type":"string"},"extract":{"type":"string"},`+
				`"mode":{"type":"string","enum":["auto","full-chunked","read-grep","truncate"],"description":"default auto"}`,
				`"handle","extract"`),
			extract,
		},
		{
			policy.ToolSearchContext,
			"Search all that left this conversation, outputs and messages, by words, names or paths.",
			schema(`"query":{"type":"string"}`, `"query"`),
			search,
		},
		{
			policy.ToolSearch,
			"Find further tools, which are not listed here, by what they do. What is found can be called from then on.",
			schema(`"query":{"type":"string","description":"what the tool is to do, or its name"}`, `"query"`),
			findTools,
		},
		{
			policy.ToolCompactContext,
			"Free space in the context now: older messages give way to a summary or a handle.",
			`{"type":"object","properties":{}}`,
			compact,
		},
	}
}

// schema writes the schema of a tool's arguments.
func schema(properties, required string) string {
	return `{"type":"object","properties":{` + properties + `},"required":[` + required + `]}`
}

// bare takes from a Ref what a model copied with it: the word that stands before it in
// answers and notices, quotes, blanks.
func bare(ref string) string {
	ref = strings.Trim(ref, " \t\r\n\"'`[]")
	for _, before := range []string{"ref_id=", "ref=", "ref:", "handle="} {
		ref = strings.TrimPrefix(ref, before)
	}
	return strings.Trim(ref, "\"'`")
}
