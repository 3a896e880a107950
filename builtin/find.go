package builtin

import (
	"context"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Finder is a Source that knows the tools which are left out of the conversation that calls
// its tools.
type Finder interface {
	// FindTools returns those that fit the query best, the best first, at most limit.
	FindTools(query string, limit int) []llm.Tool
	// OfferTools offers some of them again, by their names.
	OfferTools(ctx context.Context, names []string) error
}

// findTools answers tool_search: with what the model would have seen of the tools in the list,
// which has them from the next request on.
func findTools(ctx context.Context, v *visit) Answer {
	query := v.args.need("query")
	if v.args.err != nil {
		return wrong(v.tool, v.args.err)
	}
	f, ok := v.source.(Finder)
	if !ok {
		return Answer{Text: "No tools are left out here.", IsError: true}
	}
	p := v.newPage(nil)
	var names []string
	for _, t := range f.FindTools(query, maxHits) {
		text := t.Name
		for _, more := range []string{t.Description, t.Schema} {
			if more != "" {
				text += "\n" + more
			}
		}
		if len(names) > 0 {
			text = "\n\n" + text
		}
		if !p.add(text) && (len(names) > 0 || !p.add(t.Name)) {
			break
		}
		names = append(names, t.Name)
	}
	if len(names) == 0 {
		return said(noMatches + string(firstRunes([]byte(query), v.limits.Line)))
	}
	if err := f.OfferTools(ctx, names); err != nil {
		return Answer{Text: "The tools could not be offered now.", IsError: true, Fault: err}
	}
	return Answer{Text: p.end(v), Loads: names}
}
