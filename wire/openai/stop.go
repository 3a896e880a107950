package openai

import "github.com/plimsoll-dev/plimsoll/core/llm"

// chatStop returns what a finish_reason means. Mistral says model_length for the window,
// and some servers give the word of the provider behind them.
func chatStop(reason string) llm.Stop {
	switch reason {
	case "stop", "end_turn", "eos":
		return llm.StopEnd
	case "tool_calls", "function_call", "tool_use":
		return llm.StopTool
	case "length", "max_tokens":
		return llm.StopLength
	case "model_length":
		return llm.StopWindow
	case "stop_sequence":
		return llm.StopSequence
	case "content_filter", "refusal", "safety":
		return llm.StopRefusal
	}
	return llm.StopUnknown
}

// chatReason returns the finish_reason of a reply that stopped for s: the provider's own
// word where it is one of this format.
func chatReason(s llm.Stop, own string) string {
	switch own {
	case "stop", "tool_calls", "function_call", "length", "content_filter":
		if chatStop(own) == s || s == llm.StopRefusal && own == "stop" {
			return own
		}
	}
	switch s {
	case llm.StopTool:
		return "tool_calls"
	case llm.StopLength, llm.StopWindow:
		return "length"
	case llm.StopRefusal:
		return "content_filter"
	}
	return "stop"
}

// refined returns s with what the parts of the reply say: the calls that wait for a
// result, and a refusal in so many words. Many servers end with "stop" after a call.
func refined(s llm.Stop, calls, refused bool) llm.Stop {
	switch {
	case refused && (s == llm.StopEnd || s == llm.StopUnknown):
		return llm.StopRefusal
	case calls && (s == llm.StopEnd || s == llm.StopUnknown):
		return llm.StopTool
	}
	return s
}

// responsesStatus returns the status and, for a reply that is not whole, the reason that
// the Responses format gives it.
func responsesStatus(s llm.Stop, own string) (status, incomplete string) {
	switch s {
	case llm.StopLength, llm.StopWindow:
		return "incomplete", "max_output_tokens"
	case llm.StopRefusal:
		if own != "completed" { // a refusal in so many words is a reply that is whole
			return "incomplete", "content_filter"
		}
	}
	return "completed", ""
}
