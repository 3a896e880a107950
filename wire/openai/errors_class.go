package openai

import (
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/overflow"
)

// A rule gives errors whose code or type is one of the words a class.
type rule struct {
	class wire.Class
	words []string
}

// codeRules hold the codes and types of OpenAI and of servers that speak its dialect
// (Azure, llama.cpp, vLLM, OpenRouter, Groq, xAI, DeepSeek), beside those for a prompt that
// is too long (package overflow). The first that fits counts.
var codeRules = []rule{
	{wire.TooLarge, []string{"string_above_max_length", "request_too_large", "payload_too_large", "content_too_large"}},
	{wire.Billing, []string{"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance", "credits_exhausted", "payment_required"}},
	{wire.BadThinking, []string{"invalid_encrypted_content", "thinking_signature_invalid"}},
	{wire.NotFound, []string{"model_not_found", "deploymentnotfound", "not_found_error", "unknown_model"}},
	{wire.Auth, []string{"invalid_api_key", "authentication_error", "permission_error", "permission_denied", "invalid_authentication", "unauthorized"}},
	{wire.Overloaded, []string{"server_is_overloaded", "overloaded_error", "engine_overloaded", "model_overloaded", "slow_down", "service_unavailable", "unavailable_error"}},
	{wire.RateLimited, []string{"rate_limit_exceeded", "rate_limit_error", "too_many_requests", "ratelimitreached", "rate_limit_reached_error"}},
	{wire.Timeout, []string{"timeout", "timeout_error", "request_timeout"}},
}

// textRules hold what only the message tells, in lower case, beside the words for a prompt
// that is too long (package overflow), which come first.
var textRules = []rule{
	{wire.BadThinking, []string{
		"encrypted content could not be", "encrypted_content", "without its required following item", "reasoning' was provided without",
		"invalid signature in thinking", "invalid `signature` in `thinking`", "items are not persisted when",
	}},
	{wire.Billing, []string{
		"exceeded your current quota", "insufficient balance", "insufficient credits", "requires more credits", "insufficient funds",
		"credit balance is too low", "run out of credits", "payment required",
	}},
	{wire.TooLarge, []string{"request entity too large", "payload too large", "request body too large", "string too long"}},
	{wire.Overloaded, []string{"overloaded", "at capacity", "no available capacity", "service unavailable", "temporarily unavailable"}},
	{wire.RateLimited, []string{"rate limit", "too many requests", "rate-limited", "tokens per min"}},
	{wire.Auth, []string{"incorrect api key", "invalid api key", "invalid authentication"}},
	{wire.NotFound, []string{"does not exist or you do not have access", "model not found", "is not a valid model id"}},
	{wire.Timeout, []string{"timed out"}},
}

// classify fills in what the words of e tell: its class, the sizes and how long to wait.
func classify(e *wire.Error) {
	text := overflow.Plain(e.Message)
	e.Class = classOf(e, text)
	if window, used, ok := perMinute(text); ok {
		e.Class, e.Window, e.Used = wire.TooLong, window, used
	}
	if e.Class == wire.TooLong {
		used, window := overflow.Figures(text)
		if e.Window == 0 {
			e.Window = window
		}
		if e.Used == 0 {
			e.Used = used
		}
	} else {
		e.Used, e.Window = 0, 0
	}
	e.RetryAfter = retryAfter(text)
}

// classOf returns the class that the code, the type, the message and the status tell, in
// this order: a status alone tells least.
func classOf(e *wire.Error, text string) wire.Class {
	status := e.Status
	if n, err := strconv.Atoi(e.Code); err == nil && n >= 400 && n < 600 && (status == 0 || status == 200) {
		status = n
	}
	for _, word := range []string{e.Code, e.Type} {
		if c := byWord(strings.ToLower(word)); c != wire.Unclassified {
			return c
		}
	}
	if status != 401 && status != 403 {
		if overflow.Said(text) {
			return wire.TooLong
		}
		for _, r := range textRules {
			for _, w := range r.words {
				if strings.Contains(text, w) {
					return r.class
				}
			}
		}
	}
	if c := wire.ClassOfStatus(status); c != wire.Unclassified {
		return c
	}
	switch {
	case strings.Contains(e.Type, "invalid_request") || strings.Contains(e.Type, "BadRequest"):
		return wire.BadRequest
	case e.Type+e.Code+e.Message == "":
		return wire.Unclassified
	}
	return wire.ServerFault
}

func byWord(word string) wire.Class {
	if overflow.Code(word) {
		return wire.TooLong
	}
	for _, r := range codeRules {
		for _, w := range r.words {
			if word == w {
				return r.class
			}
		}
	}
	return wire.Unclassified
}

// perMinute reads "Request too large for … on tokens per min (TPM): Limit 30000,
// Requested 40000": to wait is of no use, a smaller request is.
func perMinute(text string) (window, used int, ok bool) {
	if !strings.Contains(text, "request too large") || !strings.Contains(text, "requested") {
		return 0, 0, false
	}
	window, used = overflow.After(text, "limit "), overflow.After(text, "requested ")
	return window, used, window > 0 && used > window
}

// retryAfter reads "Please try again in 1.2s", "… in 6m0s", "… in 320ms" and "… after 6
// seconds"; 0 if the text says none.
func retryAfter(text string) time.Duration {
	for _, words := range []string{"try again in ", "retry after ", "retry in ", "try again after "} {
		_, rest, ok := strings.Cut(text, words)
		if !ok {
			continue
		}
		word, rest, _ := strings.Cut(rest, " ")
		word = strings.TrimRight(word, ".,;)")
		if d, err := time.ParseDuration(word); err == nil && d > 0 {
			return d
		}
		unit := "s"
		if strings.HasPrefix(rest, "minute") {
			unit = "m"
		} else if strings.HasPrefix(rest, "millisecond") {
			unit = "ms"
		}
		if d, err := time.ParseDuration(word + unit); err == nil && d > 0 {
			return d
		}
	}
	return 0
}
