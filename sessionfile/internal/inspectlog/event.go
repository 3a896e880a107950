package inspectlog

import (
	"cmp"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/chatlog"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// A call is what an event says about one model call.
type call struct {
	line   int
	id     string // of the reply's message
	model  string
	usage  gjson.Result
	time   int64
	cached bool // Inspect had the reply and called nobody
}

// event takes in one event, if it is a model call that was answered.
func (s *sample) event(value []byte) {
	f := read.FieldsOf(value)
	if f.Str("event") != "model" {
		return
	}
	output := f.Of("output")
	first := firstOf(output["choices"])
	choice := first.Of("message")
	if choice == nil {
		return
	}
	if first.Str("stop_reason") == "model_length" && output.Of("usage") == nil { // no model wrote it
		if id := choice.Str("id"); id != "" {
			s.refused[id] = cmp.Or(output.Str("error"), choice.Str("content"), "context length exceeded")
		}
		return
	}
	line := s.line(value)
	c := call{line: line, id: choice.Str("id"), model: s.Name(output["model"]), cached: f.Str("cache") == "read"}
	if usage := output["usage"]; len(usage) > 0 {
		c.usage = gjson.ParseBytes(usage)
	}
	if c.time = s.Time(line, f["completed"]); c.time == 0 {
		c.time = s.Time(line, f["timestamp"])
	}
	if c.id != "" {
		s.byID[c.id] = len(s.calls)
	}
	s.calls = append(s.calls, c)
	if !c.cached {
		s.made++
	}
	if s.Segment.Tools == nil {
		s.tools(line, f["tools"])
	}
}

func firstOf(array []byte) read.Fields {
	var first read.Fields
	read.EachElement(array, func(value []byte) bool {
		first = read.FieldsOf(value)
		return false
	})
	return first
}

// tools takes in what the first call offered.
func (s *sample) tools(line int, tools []byte) {
	out := []byte{'['}
	read.EachElement(tools, func(value []byte) bool {
		f := read.FieldsOf(value)
		if f.Str("name") == "" {
			return true
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, `{"type":"function","function":{"name":`...), f["name"]...)
		if text := s.resolve(line, f["description"]); len(text) > 0 {
			out = append(append(out, `,"description":`...), text...)
		}
		if schema := f["parameters"]; len(schema) > 0 && schema[0] == '{' {
			out = append(append(out, `,"parameters":`...), schema...)
		}
		out = append(out, `}}`...)
		return true
	})
	if len(out) > 1 {
		s.Segment.Tools = s.Tools(line, append(out, ']'))
	}
}

// pay gives each reply what its call used.
func (s *sample) pay() {
	inOrder := len(s.byID) == 0 && len(s.calls) == len(s.replies)
	for i, position := range s.replies {
		e := &s.Segment.Entries[position]
		at, ok := s.byID[s.ids[i]]
		if inOrder {
			at, ok = i, true
		}
		if !ok {
			continue
		}
		c := s.calls[at]
		if e.Time = c.time; c.cached {
			e.Step = nil
			continue
		}
		e.Step.Time = c.time
		if c.model != "" {
			e.Step.Model = c.model
		}
		s.answered++
		if c.usage.IsObject() {
			s.use(c, e.Step)
		}
	}
}

// use reads a usage report. Whether cached tokens are a share of the input is told by
// the total.
func (s *sample) use(c call, step *sessionfile.Step) {
	step.Cost = chatlog.Cost([]byte(c.usage.Get("total_cost").Raw))
	chatlog.Pay(step, s.used(c.line, c.usage))
}

// used returns a count of tokens as Inspect writes it.
func (s *sample) used(line int, count gjson.Result) llm.Usage {
	tokens := func(name string) int { return s.Tokens(line, count, name) }
	input, output := tokens("input_tokens"), tokens("output_tokens")
	cached, written := tokens("input_tokens_cache_read"), tokens("input_tokens_cache_write")
	u := llm.Usage{Input: input, CacheRead: cached, CacheWrite5m: written}
	if tokens("total_tokens") < input+output+cached+written {
		u = chatlog.Disjoint(input, cached, written)
	}
	u.Output = output
	u.Reasoning = min(output, tokens("reasoning_tokens"))
	return u
}

// stated takes in what the log says of all calls of the sample that were made, by model. Those
// of sub-agents and of scorers are among them.
func (s *sample) stated(from int, models []byte) {
	var sum read.Sum
	for _, count := range gjson.ParseBytes(models).Map() {
		sum.Usage = sum.Usage.Add(s.used(s.line(models), count))
		sum.Cost += chatlog.Cost([]byte(count.Get("total_cost").Raw))
	}
	known := len(s.Session.Stated)
	s.State(s.line(models), "model_usage", from, sum)
	if aside := s.made - s.answered; aside > 0 && len(s.Session.Stated) > known {
		s.Session.Stated[known].Why = fmt.Sprintf("%d calls of the sample's events are not of its conversation", aside)
	}
}
