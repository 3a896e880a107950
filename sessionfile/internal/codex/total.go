package codex

import (
	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// totals follows the running total of a file, which a copy brings along and which may
// begin anew.
type totals struct {
	line int       // of the newest one
	last llm.Usage // the newest one
	base llm.Usage // what of it is not the session's own
	sum  llm.Usage // of runs that ended before
	half bool      // the newest one has no input or no output
}

// running takes in a running total. anew says that it counts from here.
func (c *codex) running(no int, report gjson.Result, anew bool) {
	t, total := &c.totals, c.usage(no, report)
	switch {
	case c.copied():
		t.base = total
	case anew:
		t.sum = plus(t.sum, t.last, t.base)
		t.base = llm.Usage{}
	}
	t.line, t.last = no, total
	t.half = !report.Get("input_tokens").Exists() || !report.Get("output_tokens").Exists()
}

// plus returns a + b - c.
func plus(a, b, c llm.Usage) llm.Usage {
	return llm.Usage{
		Input: a.Input + b.Input - c.Input, CacheRead: a.CacheRead + b.CacheRead - c.CacheRead,
		CacheWrite5m: a.CacheWrite5m + b.CacheWrite5m - c.CacheWrite5m,
		Output:       a.Output + b.Output - c.Output, Reasoning: a.Reasoning + b.Reasoning - c.Reasoning,
	}
}

// stated returns what the totals say of the session's own calls in segments 0 to n.
func (t *totals) stated(n int) []sessionfile.Stated {
	if t.line == 0 || n == 0 || t.half {
		return nil
	}
	what := "token_count total"
	if t.base != (llm.Usage{}) {
		what = "token_count total, less what was copied"
	}
	return []sessionfile.Stated{{Line: t.line, What: what, To: n, Figures: read.Figures(0, plus(t.sum, t.last, t.base))}}
}
