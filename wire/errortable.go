package wire

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A kind is a class by the codes and types of errors, in lower case.
type kind struct {
	class Class
	words []string
}

// baseResp is the type of an error that MiniMax told in its base_resp. Its codes count only
// there, behind this word: others have the same numbers for something else.
const baseResp = "base_resp"

// kinds tell more than a status: the codes and types of OpenAI and of servers that speak its
// dialect (Azure, llama.cpp, vLLM, OpenRouter, Groq, xAI, DeepSeek, Copilot), of Anthropic,
// Bedrock and Google. Those of four digits are z.ai's ("API code" of its reference); those of
// MiniMax are from its "Error Codes", where a limit on tokens (1039) is one on the rate.
var kinds = []kind{
	{TooLong, []string{
		"context_length_exceeded", "exceed_context_size_error", "max_tokens_exceeded", "input_too_long", "context_window_exceeded",
		"model_max_prompt_tokens_exceeded", "tokens_limit_reached", "1261",
	}},
	{TooLarge, []string{"request_too_large", "payload_too_large", "content_too_large", "request_body_too_large_after_decoding", "image_too_large", "image_file_too_large"}},
	{Billing, []string{
		"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error", "billing_disabled", "insufficient_balance",
		"credits_exhausted", "payment_required", "usage_limit_reached", "contract_spend_limit_reached", "enforced_spend_limit_reached",
		"exceeded_current_quota_error", "budget_exceeded", "arrearage", "quota_exceeded", "insufficient_balance_error",
		"1113", "1304", "1308", "1309", "1310", "base_resp 1008", "base_resp 2056",
	}},
	{BadThinking, []string{"invalid_encrypted_content", "thinking_signature_invalid"}},
	{NotFound, []string{"model_not_found", "deploymentnotfound", "not_found_error", "unknown_model", "resourcenotfoundexception", "not_found", "1211"}},
	{Auth, []string{
		"invalid_api_key", "api_key_invalid", "authentication_error", "permission_error", "permission_denied", "invalid_authentication", "unauthorized",
		"unauthenticated", "accessdeniedexception", "unrecognizedclientexception", "expiredtokenexception", "invalidsignatureexception", "base_resp 1004", "base_resp 2049",
	}},
	{Overloaded, []string{
		"server_is_overloaded", "overloaded_error", "engine_overloaded", "engine_overloaded_error", "model_overloaded", "slow_down", "service_unavailable",
		"unavailable_error", "serviceunavailableexception", "modelnotreadyexception", "unavailable", "1312",
	}},
	{RateLimited, []string{
		"rate_limit_exceeded", "rate_limit_error", "too_many_requests", "ratelimitreached", "rate_limit_reached_error", "resource_exhausted",
		"throttling_error", "throttlingexception", "servicequotaexceededexception", "ramp_limit_exceeded",
		"1302", "1303", "1305", "base_resp 1002", "base_resp 1039", "base_resp 1041", "base_resp 2045",
	}},
	{Timeout, []string{"timeout", "timeout_error", "request_timeout", "modeltimeoutexception", "deadline_exceeded", "vector_store_timeout", "base_resp 1001"}},
}

// weakKinds tell less than a status.
var weakKinds = []kind{
	{BadRequest, []string{
		"invalid_request_error", "conflict_error", "badrequesterror", "validationexception", "invalid_argument", "failed_precondition",
		"out_of_range", "unimplemented", "base_resp 1026", "base_resp 1027", "base_resp 1042", "base_resp 2013",
		// Of a response that failed.
		"invalid_prompt", "bio_policy", "invalid_image", "invalid_image_format", "invalid_base64_image", "invalid_image_url", "image_too_small",
		"image_parse_error", "image_content_policy_violation", "invalid_image_mode", "unsupported_image_media_type", "empty_image_file",
		"failed_to_download_image", "image_file_not_found",
	}},
	{ServerFault, []string{
		"api_error", "server_error", "internal", "unknown", "aborted", "data_loss", "internalserverexception", "modelerrorexception",
		"modelstreamerrorexception", "base_resp 1000", "base_resp 1024", "base_resp 1033",
	}},
}

// A saying is a class by what only a message says. It counts where the class that code, type
// and status tell is one of those in room.
type saying struct {
	class Class
	room  []Class
	words []string
}

// open are the classes that leave a message room to say what was wrong.
var open = []Class{Unclassified, BadRequest, TooLarge, ServerFault}

// limits are sayings about money and rates. They come first: what they say of tokens is not
// about the length of a prompt.
var limits = []saying{
	{Billing, nil, []string{
		"usage limit", "extra usage is required", "insufficient balance", "insufficient credits", "insufficient funds", "requires more credits",
		"credit balance is too low", "run out of credits", "credits are depleted", "payment required", "requires billing",
		"billing to be enabled", "enable billing", "spend limit", "used all available credits", "monthly spending limit", "perday", // a quota of Google's, which comes back at night
		"models-per-day", "limit: 0,", "limit: 0\n", "monthly limit exhausted", "premium request allowance", "余额不足", "欠费",
		"budget has been exceeded", "exceededbudget", "exceededtokenbudget", // LiteLLM's, with 400, 403 or 429
	}},
	{RateLimited, open, []string{
		"too many tokens, please wait", "too many tokens per", "throttlingexception", "throttling_error", "please wait before", "rate limit", "rate-limited",
		"too many requests", "tokens per min", "requests per min", "quota exceeded for",
	}},
	{Overloaded, open, []string{
		"overloaded", "at capacity", "no available capacity", "service unavailable", "temporarily unavailable", "server busy", "maximum pending requests",
	}},
}

// sayings are those about the request itself, in their order.
var sayings = []saying{
	{Auth, open, []string{
		"incorrect api key", "invalid api key", "invalid authentication", "api key not valid", "api key expired", "unauthorized", "not authorized to",
		"long context beta is not yet available",
	}},
	{BadThinking, open, []string{
		"encrypted content could not be", "encrypted_content", "without its required following item", "reasoning' was provided without",
		"invalid signature in thinking", "invalid `signature` in `thinking`", "items are not persisted when", "thinking.signature: field required",
		"the block is bound to a different conversation", "in the latest assistant message cannot be modified",
		"invalid `data` in `redacted_thinking` block", "thought_signature", "thought signature", "thoughtsignature",
	}},
	{TooLong, open, tooLong},
	{TooLarge, open, []string{
		"request entity too large", "payload too large", "request body too large", "request exceeds the maximum size", "payload size exceeds",
		"request is too large", "exceeds the maximum request size", "mb maximum", "image dimensions exceed", "pdf pages may be provided",
		"too many images",
	}},
	{NotFound, open, []string{"does not exist or you do not have access", "model not found", "is not a valid model id", "not found, try pulling"}},
	{Timeout, open, []string{"timed out", "deadline exceeded"}},
	{BadRequest, []Class{ServerFault}, []string{"must be of type", "invalid format:", "invalid json schema"}}, // Ollama answers 500
	{NotFound, []Class{Unclassified}, []string{"not found"}},
	{BadRequest, []Class{Unclassified}, []string{"does not support", "invalid"}},
}

// tooLong are the words for a prompt that is too long (Anthropic, Bedrock, OpenAI, Azure,
// Copilot, vLLM, SGLang, TGI, llama.cpp, LM Studio, OpenRouter, Gemini, Ollama, Mistral,
// Moonshot, MiniMax, DashScope, Volcengine, z.ai, Cerebras).
var tooLong = []string{
	"maximum context length", "exceeds the context window", "exceed context window", "exceeds the available context size",
	"context length exceeded", "exceeds the maximum context", "exceeds context ", "exceeds the model's context", "context window exceeded",
	"context size has been exceeded", "longer than the model's context length", "the model's context length is only",
	"prompt is too long", "input is too long", "prompt too long", "maximum prompt length", "max_model_len",
	"exceeds the maximum number of tokens", "is longer than the maximum model length", "the input length exceeds", "exceeds the maximum allowed input length",
	"when context the overflows", "greater than the context length", "too many tokens", "exceeds maximum allowed token", "max_tokens must be at least 1, got -",
	"exceed context limit", "exceeded model token limit", "context window exceeds limit", "prompt exceeds max length", "exceeds the context length",
	"input tokens exceed", "maximum number of input tokens", "reduce the length of the messages", "range of input length should be [",
	"exceed max message tokens", "too many input tokens", "inputs` must have less than", "inputs must have less than", "cannot truncate prompt with n_keep",
	"exceeded this model context window", "max_new_tokens must be <=", "max_new_tokens` must be <=", "input token count is", "input token count exceeds",
	"while limit is ",
}

// notTooLong are words beside which those of tooLong mean something else: the output that a
// program asked for (-1 stands for "as much as there is" in some), a cache that is too small,
// another text than the prompt.
var notTooLong = []string{
	"must be at least 1, got -1.", "must be at least 1, got -1 ", "min_total_token_count", "stop sequence", "logit_bias",
}

// inGeneral says by its parts that a prompt is too long: of what, how, in which unit, and what
// tells that something else is meant: the room for the reply, one text, bytes, a rate.
var inGeneral = [...][]string{
	{"prompt", "input", "context", "messages", "conversation", "request"},
	{"exceed", "too long", "too large", "too big", "longer than", "larger than", "greater than", "more than", "over the limit", "beyond the"},
	{"tokens", "token count", "token limit", "token length", "context length", "context window", "context size", "input length", "prompt length", "length of the prompt"},
}

var inGeneralNot = []string{
	"max_tokens", "max_completion_tokens", "max_output_tokens", "maxoutputtokens", "max tokens is", "output token", "completion token", "budget",
	"string too long", "array too long", "image", "byte", "pixel", "page", "file", "per min", "per day", "per second", "stop sequence",
	"maximum tokens you requested", "header", "scope", "schema", "url", "temperature", "api token", "access token", "auth", "cached content",
}

// mediaInGeneral says by its parts that what a message carries beside its text is too large:
// of what, how, and in which unit; and what tells that only a model is named after it.
var mediaInGeneral = [...][]string{
	{"image", "pdf", "document", "audio", "video", "attachment"},
	inGeneral[1],
	{"size", "byte", " mb", "0mb", "5mb", "pixel", "dimension", "resolution", "pages", "too large", "too big"},
}

var mediaInGeneralNot = []string{
	"max_tokens", "max_completion_tokens", "max_output_tokens", "maxoutputtokens", "output token", "completion token", "schema", "temperature", "header",
}

// classify fills in what the words and the status of e tell, with those that stand beside
// its message and the status behind its own: its class, the sizes and how long to wait.
func (e *Error) classify(beside string, behind int) {
	plain := plainText(e.Message + " " + beside)
	e.Class = e.classOf(plain, behind)
	if window, used, ok := aboveRate(plain); ok {
		e.Class, e.Window, e.Used = TooLong, window, used
	}
	if e.Class == TooLong {
		used, window := figures(plainText(e.Message))
		e.Used, e.Window = cmp.Or(e.Used, used), cmp.Or(e.Window, window)
	} else {
		e.Used, e.Window = 0, 0
	}
	if e.RetryAfter == 0 && (e.Class.Retryable() || e.Class == Billing) {
		e.RetryAfter = statedWait(plain)
	}
	if e.Class == RateLimited && e.RetryAfter == 0 && containsAny(plain, []string{"per day", "(rpd)", "(tpd)"}) {
		e.RetryAfter = 24 * time.Hour // no sooner, as far as it says
	}
}

// classOf returns the class of e. Status, code and type come first where they leave words no
// room: nothing that a limit on the rate or an overloaded server says about tokens means a
// long prompt.
func (e *Error) classOf(plain string, behind int) Class {
	class := e.classWithoutWords(behind)
	quota := class == RateLimited && strings.EqualFold(e.Type, "RESOURCE_EXHAUSTED") // Google says so of each minute's
	if class != TooLong && !quota && strings.Contains(plain, "exceeded your current quota") {
		return Billing
	}
	for _, s := range limits {
		if s.says(class, plain) && class != TooLong {
			return s.class
		}
	}
	if limit, ok := stringLimit(e, plain); ok {
		return limit
	}
	for _, s := range sayings {
		if s.says(class, plain) && (s.class != TooLong || !containsAny(plain, notTooLong)) {
			return s.class
		}
	}
	if slices.Contains(open, class) && saysEach(inGeneral, plain) && !containsAny(plain, inGeneralNot) {
		return TooLong
	}
	if slices.Contains(open, class) && saysEach(mediaInGeneral, plain) && !containsAny(plain, mediaInGeneralNot) {
		return TooLarge
	}
	if class == Unclassified && e.Status == 0 && e.Type+e.Code+e.Message != "" {
		return ServerFault // a stream that breaks without a known reason
	}
	return class
}

// classWithoutWords returns the class by code, type and status.
func (e *Error) classWithoutWords(behind int) Class {
	status := e.Status
	if behind >= 400 && behind < 600 {
		status = behind
	}
	if n := leadingNumber(e.Code); isNumber(e.Code) && n >= 400 && n < 600 && (status == 0 || status == 200) {
		status = n
	}
	byStatus := ClassOfStatus(status)
	words := []string{e.Type + " " + e.Code, e.Code, e.Type}
	for _, word := range words {
		if c := byWord(kinds, word); c != Unclassified {
			return c
		}
	}
	if byStatus != Unclassified {
		return byStatus
	}
	return cmp.Or(byWord(weakKinds, words[0]), byWord(weakKinds, words[1]), byWord(weakKinds, words[2]))
}

func byWord(kinds []kind, word string) Class {
	word = strings.ToLower(word)
	for _, k := range kinds {
		if slices.Contains(k.words, word) {
			return k.class
		}
	}
	return Unclassified
}

// says reports whether s counts beside class and is said. Without a list there is room
// beside every class.
func (s saying) says(class Class, plain string) bool {
	return (s.room == nil || slices.Contains(s.room, class)) && containsAny(plain, s.words)
}

// saysEach reports whether text says a word of each list.
func saysEach(lists [3][]string, text string) bool {
	for _, words := range lists {
		if !containsAny(text, words) {
			return false
		}
	}
	return true
}

// stringLimit tells apart what OpenAI says of one text: an output that is too large, which
// less of it mends, and an id or a name, which nothing shorter in the conversation mends.
func stringLimit(e *Error, plain string) (Class, bool) {
	const contents = 100_000 // characters; those of ids, names and descriptions are below
	if e.Code != "string_above_max_length" && !strings.Contains(plain, "string too long") {
		return Unclassified, false
	}
	if most := numberAfter(plain, "maximum length "); most > 0 && most < contents {
		return BadRequest, true
	}
	return TooLarge, true
}

// aboveRate reads "Request too large for … on tokens per min (TPM): Limit 30000, Requested
// 40000": to wait is of no use, a smaller request is.
func aboveRate(plain string) (window, used int, ok bool) {
	if !strings.Contains(plain, "request too large") {
		return 0, 0, false
	}
	window, used = numberAfter(plain, "limit "), numberAfter(plain, "requested ")
	return window, used, window > 0 && used > window
}

// statedWait reads "Please try again in 1.2s", "… in 6m0s", "… in 320ms" and "… after 6
// seconds"; 0 if the text says none.
func statedWait(plain string) time.Duration {
	for _, words := range []string{"try again in ", "retry after ", "retry in ", "try again after ", "retrydelay:"} {
		_, rest, ok := strings.Cut(plain, words)
		if !ok {
			continue
		}
		number, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
		number = strings.TrimRight(number, ".,;)]")
		if d := duration(number); d > 0 {
			return d
		}
		unit := "s"
		switch {
		case strings.HasPrefix(rest, "minute"):
			unit = "m"
		case strings.HasPrefix(rest, "hour"):
			unit = "h"
		case strings.HasPrefix(rest, "millisecond"):
			unit = "ms"
		}
		if d := duration(number + unit); d > 0 {
			return d
		}
	}
	return 0
}

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}
