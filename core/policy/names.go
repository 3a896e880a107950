package policy

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/prompt"
)

// What a Policy's fields may hold, beside the moments, measures, bases and
// actions.
const (
	PinFirstHuman = "first_human" // the first Human message
	PinLastHuman  = "last_human"  // the last Human message
	PinRules      = "rules"       // Notes that carry standing instructions

	OrderArrival   = "arrival"   // oldest first, weighted by kind
	OrderUse       = "use"       // outputs, then Rounds, to which calls have referred least lately
	OrderReference = "reference" // what later calls refer to least, by what it is and when one last did

	ChangedRewrite = "rewrite" // a changed section is sent as it is now
	ChangedNote    = "note"    // the model is told in a note

	SlotSection      = "section"       // a section of the system prompt
	SlotUserMessages = "user_messages" // messages in the user's name at the beginning
	SlotNote         = "note"          // a Note in the place of what was summarised

	FloorError = "error" // a Step whose floor exceeds the limit is an error
	FloorSend  = "send"  // it is sent, reduced by the backstop and marked

	SummaryKeep     = "keep"     // the history stays as it is
	SummaryNext     = "next"     // the next rule acts
	SummaryFallback = "fallback" // the deterministic summary takes the place

	WindowDefault        = "default"         // assume Value tokens
	WindowError          = "error"           // refuse to go on
	WindowOutputMultiple = "output_multiple" // assume Value times the output reserve

	ShowView    = "view"    // from the beginning; for a share of the limit, both ends
	ShowSection = "section" // of a note: the last section of the system prompt; empty: a message at the end
	ShowEnds    = "ends"    // both ends and what went wrong; data by their shape; what is no text by type and size

	UntilTurn = "turn" // the tools are chosen anew when a Turn begins
	UntilEnd  = "end"  // what was offered once stays, and what comes stands behind it

	MeansAppend = "append" // what is found stands in the list, behind what was offered before
	MeansNative = "native" // all tools are declared, those that are left out as deferred ones, where the provider can

	TailTurns    = "turns"
	TailRounds   = "rounds"
	TailMessages = "messages"
)

// Builtin tools that a policy can offer to the model. The names are those of the
// source documents; package builtin serves them.
const (
	ToolOutput          = "tool_output"            // a stored output: by lines, by pattern, or what a model makes of it
	ToolOutputCache     = "tool_output_cache"      // a stored output by lines
	ToolOutputCacheGrep = "tool_output_cache_grep" // the lines of one that match
	ToolOutputCacheLine = "tool_output_cache_line" // a part of one long line
	ToolReadResult      = "read_result"            // a stored output
	ToolCompactContext  = "compact_context"        // asks for a compaction
	ToolSearch          = "tool_search"            // finds tools that were left out
	ToolSearchContext   = "search_context"         // searches all that was stored

	// ToolFinalReport is the tool that a host registers for the report of a final Step, where
	// the policy names no other.
	ToolFinalReport = "agent__final_report"
)

// ReadsRefs reports whether a builtin tool gives back what is stored under a Ref.
func ReadsRefs(tool string) bool {
	switch tool {
	case ToolOutput, ToolOutputCache, ToolOutputCacheGrep, ToolOutputCacheLine, ToolReadResult:
		return true
	}
	return false
}

// ToolPrefix begins the name of a builtin tool where the client has a tool of its name.
const ToolPrefix = "plimsoll_"

// BuiltinOf returns the name that policies have for a builtin tool, by the name under which
// it is offered.
func BuiltinOf(offered string) string { return strings.TrimPrefix(offered, ToolPrefix) }

// PlainSuffix ends the name of the text that stands in for another one which names a
// builtin tool, in braces, where that tool is not offered.
const PlainSuffix = "_plain"

// ToolsIn returns the builtin tools that a text names, each once.
func ToolsIn(text string) []string {
	var out []string
	for _, word := range placeholders(text) {
		if slices.Contains(knownTools, word) && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// Naming returns a text with the names under which the builtin tools in it are offered. It
// returns false if one of them is not: as says so by an empty name.
func Naming(text string, as func(tool string) string) (string, bool) {
	for _, tool := range ToolsIn(text) {
		name := as(tool)
		if name == "" {
			return "", false
		}
		text = strings.ReplaceAll(text, "{"+tool+"}", name)
	}
	return text, true
}

// Tables of the names above, in the order in which they are shown.
var (
	knownPins    = []string{PinFirstHuman, PinLastHuman, PinRules}
	knownOrders  = []string{OrderArrival, OrderUse, OrderReference}
	knownChanged = []string{ChangedRewrite, ChangedNote}
	knownMarks   = []string{prompt.MarksMoving, prompt.MarksSections, prompt.MarksNone}
	knownSlots   = []string{SlotSection, SlotUserMessages, SlotNote}
	knownFloors  = []string{FloorError, FloorSend}
	knownSummary = []string{SummaryKeep, SummaryNext, SummaryFallback}
	knownWindows = []string{WindowDefault, WindowError, WindowOutputMultiple}
	knownTails   = []string{TailTurns, TailRounds, TailMessages}
	knownUntils  = []string{UntilTurn, UntilEnd}
	knownMeans   = []string{MeansAppend, MeansNative}
	knownShows   = []string{ShowView, ShowEnds}
	knownAsked   = []string{ProviderOutputs, ProviderThinking, ProviderCompact}
	knownParts   = []string{"system", "summary", "tools"}
	knownOps     = []string{">", ">="}
	knownBases   = []string{string(OfCapacity), string(OfLimit)}
	knownTools   = []string{
		ToolOutput, ToolOutputCache, ToolOutputCacheGrep, ToolOutputCacheLine, ToolReadResult, ToolCompactContext, ToolSearch, ToolSearchContext,
	}
	knownTemplates = []string{
		TemplateCap, TemplateOffload, TemplateTrim, TemplateClear, TemplateDrop,
		TemplateSummary, TemplateRetain, TemplateStatus, TemplateFinal, TemplateFail, TemplateSkipped, TemplateDedup, TemplateReferences, TemplateDeferred,
	}
	knownMoments = []string{
		string(AtAppend), string(AtTool), string(AtPrepare), string(AtUsage), string(AtRejected), string(AtTurnEnd),
	}
)
