package copilot

import (
	"cmp"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// usage reads a report of usage, in which what was cached is a share of the input. Its
// fields have had two sets of names.
func (c *copilot) usage(no int, f read.Fields) llm.Usage {
	count := func(names ...string) int {
		for _, name := range names {
			if v, ok := f[name]; ok {
				return c.Count(no, name, v)
			}
		}
		return 0
	}
	input := count("inputTokens", "input")
	cached := min(input, count("cacheReadTokens", "cachedInput"))
	written := min(input-cached, count("cacheWriteTokens"))
	u := llm.Usage{Input: input - cached - written, CacheRead: cached, CacheWrite5m: written, Output: count("outputTokens", "output")}
	u.Reasoning = min(u.Output, count("reasoningTokens"))
	return u
}

// A run is what the client states at its end, of each model.
type run struct {
	line  int
	began string // when, as the file has it; empty if it does not
	sums  map[string]read.Sum
}

// shutdown takes in the end of a run. Of what is stated of one run the last counts.
func (c *copilot) shutdown(no int, data read.Fields) {
	models := data["modelMetrics"]
	if len(models) == 0 || models[0] != '{' {
		return
	}
	r := run{line: no, began: string(data["sessionStartTime"]), sums: map[string]read.Sum{}}
	read.EachField(models, func(key, value []byte) {
		m := read.FieldsOf(value)
		r.sums[string(key)] = read.Sum{Calls: c.Count(no, "requests.count", m.Of("requests")["count"]), Usage: c.usage(no, m.Of("usage"))}
	})
	if last := len(c.runs) - 1; last >= 0 && r.began != "" && c.runs[last].began == r.began {
		c.runs = c.runs[:last]
	}
	c.runs = append(c.runs, r)
	c.open, c.called = no, false
}

// run begins a run, and notes one before it of which nothing was stated.
func (c *copilot) run(no int) {
	if c.called {
		c.unsaid = append(c.unsaid, c.open)
	}
	c.open, c.called = no, false
}

// stated returns what the runs state of the session.
func (c *copilot) stated() []sessionfile.Stated {
	var t read.Tally
	for _, r := range c.runs {
		t.Line(r.line)
		for model, sum := range r.sums {
			t.Add(model, sum)
		}
	}
	all := t.Stated("session.shutdown", 0, c.Emitted())
	for i := range all {
		if len(c.unsaid) > 0 {
			all[i].Why = "the log has no end of the run " + fromLines(c.unsaid)
		}
	}
	return all
}

// fromLines names runs by the lines with which they began.
func fromLines(lines []int) string {
	text := fmt.Sprintf("from line %d on", lines[0])
	if more := len(lines) - 1; more > 0 {
		text += fmt.Sprintf(", and of %d more", more)
	}
	return text
}

// summarised returns the call that wrote a summary, as the last one of the segment that it
// read. Its prompt is what the provider reported, else what the client counted before it;
// the log has not what was asked. It reports false if neither is there.
func (c *copilot) summarised(data read.Fields, e sessionfile.Entry) (sessionfile.Entry, bool) {
	used := data.Of("compactionTokensUsed")
	step := &sessionfile.Step{
		Model: cmp.Or(c.Name(used["model"]), c.model), Effort: c.effort, Time: e.Time,
		RequestID: data.Str("requestId"), Usage: c.usage(e.Line, used),
	}
	step.Reported = step.Usage.Prompt() > 0
	step.OutputReported = step.Usage.Output > 0
	if !step.Reported {
		step.Usage.Input = c.Count(e.Line, "preCompactionTokens", data["preCompactionTokens"])
		step.ClientCount = step.Usage.Input > 0
	}
	e.Step = step
	e.Message = llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: openai.DialectChat, Parts: text(data.Str("summaryContent"))}
	return e, step.Reported || step.ClientCount
}
