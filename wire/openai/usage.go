package openai

import (
	"strconv"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// chatUsage reads a usage object of the Chat format. prompt_tokens includes what was
// read from the cache and written to it;
// completion_tokens includes the reasoning, but for xAI, whose totals show that it comes
// on top. DeepSeek names what was read prompt_cache_hit_tokens.
func chatUsage(b []byte) llm.Usage {
	v := raw.Values(b, "prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "completion_tokens_details", "prompt_cache_hit_tokens")
	in := raw.Values(v[3], "cached_tokens", "cache_write_tokens")
	prompt, output, total := count(v[0]), count(v[1]), count(v[2])
	reasoning := count(raw.Value(v[4], "reasoning_tokens"))
	read := max(count(in[0]), count(v[5]))
	u := disjoint(prompt, read, count(in[1]))
	u.Output, u.Reasoning = output, reasoning
	if reasoning > 0 && total == prompt+output+reasoning {
		u.Output += reasoning
	}
	u.Reasoning = min(u.Reasoning, u.Output)
	return u
}

// responsesUsage reads a usage object of the Responses format, whose input_tokens include
// cached ones and whose output_tokens include the reasoning.
func responsesUsage(b []byte) llm.Usage {
	v := raw.Values(b, "input_tokens", "output_tokens", "input_tokens_details", "output_tokens_details")
	in := raw.Values(v[2], "cached_tokens", "cache_write_tokens")
	u := disjoint(count(v[0]), count(in[0]), count(in[1]))
	u.Output = count(v[1])
	u.Reasoning = min(count(raw.Value(v[3], "reasoning_tokens")), u.Output)
	return u
}

// disjoint returns the usage of a prompt of which read and written tokens are shares.
func disjoint(prompt, read, written int) llm.Usage {
	read = min(read, prompt)
	written = min(written, prompt-read)
	return llm.Usage{Input: prompt - read - written, CacheRead: read, CacheWrite5m: written}
}

// count returns a number of tokens; 0 for what is none.
func count(b []byte) int {
	n, _ := raw.Int(b)
	return max(n, 0)
}

// writeChatUsage returns u as the Chat format has it.
func writeChatUsage(u llm.Usage) []byte {
	in := number(new(raw.Object), "cached_tokens", u.CacheRead)
	if written := u.CacheWrite5m + u.CacheWrite1h; written > 0 {
		number(in, "cache_write_tokens", written)
	}
	out := number(new(raw.Object), "reasoning_tokens", u.Reasoning)
	o := number(new(raw.Object), "prompt_tokens", u.Prompt())
	number(number(o, "completion_tokens", u.Output), "total_tokens", u.Total())
	return o.Raw("prompt_tokens_details", in.Bytes()).Raw("completion_tokens_details", out.Bytes()).Bytes()
}

// writeResponsesUsage returns u as the Responses format has it.
func writeResponsesUsage(u llm.Usage) []byte {
	in := number(new(raw.Object), "cached_tokens", u.CacheRead)
	number(in, "cache_write_tokens", u.CacheWrite5m+u.CacheWrite1h)
	out := number(new(raw.Object), "reasoning_tokens", u.Reasoning)
	o := number(new(raw.Object), "input_tokens", u.Prompt()).Raw("input_tokens_details", in.Bytes())
	number(o, "output_tokens", u.Output).Raw("output_tokens_details", out.Bytes())
	return number(o, "total_tokens", u.Total()).Bytes()
}

func number(o *raw.Object, name string, n int) *raw.Object {
	return o.Raw(name, strconv.AppendInt(nil, int64(n), 10))
}
