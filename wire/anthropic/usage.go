package anthropic

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// A tally is what usage objects have stated so far, in the wire's own figures: input
// counts uncached tokens only, write is the total that the cache took, long the share of
// it with the lifetime of one hour.
type tally struct {
	input, read, write, long int
	output, thinking         int
	cleared                  int
	whole                    int       // prompt of the first compaction, which had all that it stands for
	passes                   llm.Usage // sum of usage.iterations
	counted                  bool      // iterations were stated
}

// add takes the members that usage, an object, states; the others stay. The counts of a
// stream are cumulative, so a later one replaces an earlier one. A later object that
// says no prompt at all, as some gateways send it, does not take the known one back.
func (t *tally) add(usage []byte) {
	v := raw.Values(usage, "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens",
		"cache_creation", "output_tokens", "output_tokens_details", "iterations")
	next := *t
	var said int // of the prompt
	said += count(v[0], &next.input) + count(v[1], &next.read)
	written := count(v[2], &next.write)
	if said += written; raw.IsObject(v[3]) {
		split := raw.Values(v[3], "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")
		short := 0
		both := count(split[0], &short) + count(split[1], &next.long)
		if written == 0 && both > 0 {
			next.write, said = both, said+both
		}
	}
	if said == 0 {
		next.input, next.read, next.write, next.long = t.input, t.read, t.write, t.long
	}
	count(v[4], &next.output)
	if raw.IsObject(v[5]) {
		count(raw.Value(v[5], "thinking_tokens"), &next.thinking)
	}
	if raw.IsArray(v[6]) {
		next.passes, next.whole = passes(v[6])
		next.counted = true
	}
	*t = next
}

// clear takes what the provider says that it has taken out of the prompt by itself.
func (t *tally) clear(management []byte) {
	edits, sum := raw.Value(management, "applied_edits"), 0
	if !raw.IsArray(edits) {
		return
	}
	for _, at := range raw.Elements(edits) {
		n := 0
		count(raw.Value(raw.Slice(edits, at), "cleared_input_tokens"), &n)
		sum += n
	}
	t.cleared = sum
}

// count puts the count that value is into n and returns it; 0 if value is none.
func count(value []byte, n *int) int {
	const most = 1 << 40 // beyond it nothing is a count of tokens, and sums stay sums
	v, ok := raw.Int(value)
	if !ok || v < 0 || v > most {
		return 0
	}
	*n = v
	return v
}

// passes returns the sum of the passes in a list of iterations, and the prompt of the first one that
// was a compaction.
func passes(list []byte) (sum llm.Usage, whole int) {
	for _, at := range raw.Elements(list) {
		var t tally
		t.add(raw.Slice(list, at))
		sum = sum.Add(t.usage())
		if whole == 0 && raw.Named(raw.Value(raw.Slice(list, at), "type"), "compaction") {
			whole = t.usage().Prompt()
		}
	}
	return sum, whole
}

// usage returns what the request itself cost, in disjoint parts.
func (t tally) usage() llm.Usage {
	long := min(t.long, t.write)
	cleared := t.cleared
	if t.whole > 0 && t.input+t.read+t.write > 0 { // what is left of it is the prompt of the call
		cleared += max(t.whole-t.input-t.read-t.write, 0)
	}
	return llm.Usage{
		Input: t.input, CacheRead: t.read, CacheWrite5m: t.write - long, CacheWrite1h: long,
		Output: t.output, Reasoning: min(t.thinking, t.output), Cleared: cleared,
	}
}

// extra returns what the passes cost beyond usage: the top level of the format leaves
// out compactions, advisors and attempts that another model had to redo.
func (t tally) extra() llm.Usage {
	if !t.counted {
		return llm.Usage{}
	}
	u, p := t.usage(), t.passes
	return llm.Usage{
		Input: max(0, p.Input-u.Input), CacheRead: max(0, p.CacheRead-u.CacheRead),
		CacheWrite5m: max(0, p.CacheWrite5m-u.CacheWrite5m), CacheWrite1h: max(0, p.CacheWrite1h-u.CacheWrite1h),
		Output: max(0, p.Output-u.Output),
	}
}

// A figure is one member of a usage object.
type figure struct {
	name  string
	value []byte
}

// figures returns the members of the usage object that states u and extra: all that
// clients insist on (litellm-24176), those that nobody knows as null.
func figures(u, extra llm.Usage) []figure {
	list := append(prompt(u), figure{"output_tokens", raw.Digits(u.Output)})
	if u.Reasoning > 0 {
		list = append(list, figure{"output_tokens_details", thinkingTokens(u)})
	}
	if extra.IsZero() {
		return list
	}
	main := append([]figure{{"type", []byte(`"message"`)}}, append(prompt(u), figure{"output_tokens", raw.Digits(u.Output)})...)
	more := append([]figure{{"type", passOf(u, extra)}}, append(prompt(extra), figure{"output_tokens", raw.Digits(extra.Output)})...)
	return append(list, figure{"iterations", raw.Array([][]byte{object(main), object(more)})})
}

// passOf returns the type of the pass that extra is: a compaction where what it took more than the
// call is what was taken out of the prompt.
func passOf(u, extra llm.Usage) []byte {
	if max(extra.Prompt()-u.Prompt(), 0) != u.Cleared {
		return []byte(`"fallback_message"`)
	}
	return []byte(`"compaction"`)
}

// prompt returns the members that state the prompt of u.
func prompt(u llm.Usage) []figure {
	split := []figure{
		{"ephemeral_5m_input_tokens", raw.Digits(u.CacheWrite5m)},
		{"ephemeral_1h_input_tokens", raw.Digits(u.CacheWrite1h)},
	}
	return []figure{
		{"input_tokens", raw.Digits(u.Input)},
		{"cache_creation_input_tokens", raw.Digits(u.CacheWrite5m + u.CacheWrite1h)},
		{"cache_read_input_tokens", raw.Digits(u.CacheRead)},
		{"cache_creation", object(split)},
	}
}

func thinkingTokens(u llm.Usage) []byte {
	return object([]figure{{"thinking_tokens", raw.Digits(u.Reasoning)}})
}

// usageObject returns the usage of a whole reply, or of its beginning.
func usageObject(u, extra llm.Usage) []byte {
	null := []byte("null")
	return object(append(figures(u, extra), figure{"server_tool_use", null}, figure{"service_tier", null}))
}

func object(members []figure) []byte {
	o := new(raw.Object)
	for _, m := range members {
		o.Raw(m.name, m.value)
	}
	return o.Bytes()
}
