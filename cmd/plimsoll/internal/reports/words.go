package reports

import (
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
)

// InspectWords are those of what inspect says, in the order in which they are met.
func InspectWords() []console.Word {
	return []console.Word{
		{Name: "hidden", Means: "what the client sends and does not write into its file, as its system prompt and tools"},
		{Name: "carried", Means: "the tokens of an output, once for each prompt that it was in (steps)"},
		{Name: "lapsed", Means: "the provider had dropped a prompt from its cache that nobody asked for in time"},
	}
}

// ReplayWords are those of what replay says, likewise.
func ReplayWords() []console.Word {
	return []console.Word{
		{Name: "over", Means: "calls above the limit"},
		{Name: "of raw", Means: "compared with what the client itself sent"},
		{Name: "breaks", Means: "calls that lost what the provider's cache had"},
		{Name: "visible", Means: "% of what later calls referred to that a request still said"},
		{Name: "by step", Means: "the same as a mean over steps"},
		{Name: "complete", Means: "% of steps of which all is visible"},
		{Name: "by ref, archived", Means: "not visible, but to be read again"},
		{Name: "look-ups", Means: "outputs to be read again, for 100 calls"},
	}
}
