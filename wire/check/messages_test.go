package check_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/wire/check"
)

// ask is a Messages request with these messages and further members.
func ask(messages string, members ...string) string {
	return `{"model":"claude-opus-4-5","max_tokens":2000,"messages":[` + messages + `]` + strings.Join(append([]string{""}, members...), ",") + `}`
}

func user(blocks ...string) string {
	return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
}

func assistant(blocks ...string) string {
	return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
}

const (
	hi         = `{"role":"user","content":"hi"}`
	sys        = `{"role":"system","content":"be brief"}`
	word       = `{"type":"text","text":"word"}`
	callA      = `{"type":"tool_use","id":"toolu_a","name":"read","input":{}}`
	callB      = `{"type":"tool_use","id":"toolu_b","name":"read","input":{"path":"b"}}`
	resultA    = `{"type":"tool_result","tool_use_id":"toolu_a","content":"a"}`
	resultB    = `{"type":"tool_result","tool_use_id":"toolu_b"}`
	think      = `{"type":"thinking","thinking":"","signature":"c2ln"}`
	search     = `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`
	toolSearch = `{"type":"server_tool_use","id":"srvtoolu_2","name":"tool_search_tool_bm25","input":{"query":"read"}}`
	toolHits   = `{"type":"tool_search_tool_result","tool_use_id":"srvtoolu_2","content":{"type":"tool_search_tool_search_result","tool_references":[{"type":"tool_reference","tool_name":"read"}]}}`
	hits       = `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`
	tools      = `"tools":[{"name":"read","input_schema":{"type":"object"}}]`
	finder     = `{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}`
	later      = `{"name":"read","input_schema":{"type":"object"},"defer_loading":true}`
	manual     = `"thinking":{"type":"enabled","budget_tokens":1024}`
	marked     = `{"type":"text","text":"m","cache_control":{"type":"ephemeral"}}`
	hour       = `{"type":"text","text":"m","cache_control":{"type":"ephemeral","ttl":"1h"}}`
)

// on returns a request for another model.
func on(model, body string) string { return strings.Replace(body, "claude-opus-4-5", model, 1) }

func TestMessagesGood(t *testing.T) {
	good := map[string]ruleCase{
		"a text":                                     {body: ask(hi)},
		"the settings that a model has anyhow":       {body: on("claude-opus-4-7", ask(hi, `"temperature":1`, `"top_p":1.0`))},
		"one of two settings":                        {body: ask(hi, `"temperature":0.2`)},
		"both where they are taken":                  {body: on("claude-opus-4", ask(hi, `"temperature":0.2`, `"top_p":0.9`))},
		"the whole of it":                            {body: ask(hi, `"system":[`+word+`]`, `"stream":true`, `"temperature":0.5`, `"stop_sequences":["x"]`, tools, `"tool_choice":{"type":"tool","name":"read"}`)},
		"parallel calls":                             {body: ask(hi+`,`+assistant(word, callA, callB)+`,`+user(resultB, resultA, word), tools)},
		"results in two messages":                    {body: ask(hi+`,`+assistant(callA, callB)+`,`+user(resultA)+`,`+user(resultB), tools)},
		"a hosted call":                              {body: ask(hi+`,`+assistant(search, hits, word)+`,`+hi, `"tools":[{"type":"web_search_20250305","name":"web_search"}]`)},
		"a paused turn":                              {body: on("claude-opus-5-5", ask(hi+`,`+assistant(word, search)))},
		"a hosted result after the client's":         {body: ask(hi + `,` + assistant(search, callA) + `,` + user(resultA) + `,` + assistant(hits, word) + `,` + hi)},
		"manual thinking in a loop of one thought":   {body: ask(hi+`,`+assistant(think, callA)+`,`+user(resultA)+`,`+assistant(callB)+`,`+user(resultB), manual, tools)},
		"a turn before without thinking":             {body: ask(hi+`,`+assistant(word)+`,`+hi, manual)},
		"adaptive thinking that begins with a text":  {body: ask(hi+`,`+assistant(word, think, callA)+`,`+user(resultA), `"thinking":{"type":"adaptive"}`, tools)},
		"prefill where it is taken":                  {body: ask(hi + `,` + assistant(word))},
		"an empty assistant at the end":              {body: ask(hi + `,{"role":"assistant","content":""}`)},
		"a conversation that begins with a summary":  {body: ask(assistant(`{"type":"compaction","content":"so far"}`, word) + `,` + hi)},
		"a signed summary":                           {body: ask(assistant(`{"type":"compaction","content":"so far","signature":"s"}`, callA) + `,` + user(resultA))},
		"a summary behind what it stands for":        {body: ask(hi + `,` + assistant(`{"type":"compaction","content":"so far"}`, word) + `,` + hi)},
		"a summary that failed":                      {body: ask(hi + `,` + assistant(`{"type":"compaction","content":null}`, callA) + `,` + user(resultA))},
		"a system message":                           {body: on("claude-opus-4-8", ask(hi+`,`+sys+`,`+sys))},
		"a system message after results":             {body: on("claude-fable-5-1", ask(hi+`,`+assistant(callA)+`,`+user(resultA)+`,`+sys+`,`+assistant(word)+`,`+hi))},
		"a cache that is only filled":                {body: strings.Replace(ask(hi), "2000", "0", 1)},
		"edits in their order":                       {body: ask(hi, `"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"},{"type":"clear_tool_uses_20250919"},{"type":"compact_20260112","trigger":{"type":"input_tokens","value":50000}}]}`)},
		"a compaction when the API thinks fit":       {body: ask(hi, `"context_management":{"edits":[{"type":"compact_20260112"}]}`)},
		"broken thinking is dropped":                 {body: ask(hi, `"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}}`)},
		"a budget above the limit, with tools":       {body: ask(hi, `"thinking":{"type":"enabled","budget_tokens":9000}`, tools)},
		"marks, hours first":                         {body: ask(user(hour, marked, marked), `"cache_control":{"type":"ephemeral"}`, `"system":[`+hour+`]`)},
		"members and blocks that are not known":      {body: ask(user(`{"type":"hologram","x":1}`, word), `"context_management":{"edits":[]}`, `"y":[1]`)},
		"images":                                     {body: ask(user(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aQ=="}}`, `{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"}}`, `{"type":"image","source":{"type":"url","url":"https://x.test/i"}}`))},
		"forced tool on a model that may not think":  {body: on("claude-opus-5-5", ask(hi, tools, `"tool_choice":{"type":"any"}`, `"thinking":{"type":"disabled"}`))},
		"a result of blocks":                         {body: ask(hi + `,` + assistant(callA) + `,` + user(`{"type":"tool_result","tool_use_id":"toolu_a","is_error":true,"content":[`+word+`,{"type":"image","source":{"type":"file","file_id":"f"}},{"type":"document","source":{"type":"content","content":[`+word+`]}}]}`))},
		"a system message after a hosted result":     {body: on("claude-opus-5", ask(hi+`,`+assistant(search, hits)+`,`+sys))},
		"tools that wait, found by the provider":     {body: ask(hi+`,`+assistant(toolSearch, toolHits, callA)+`,`+user(resultA), `"tools":[`+finder+`,`+later+`]`)},
		"tools that wait, found by the client":       {body: ask(hi+`,`+assistant(callB)+`,`+user(`{"type":"tool_result","tool_use_id":"toolu_b","content":[{"type":"tool_reference","tool_name":"read"}]}`), `"tools":[{"name":"find","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}},`+later+`]`)},
		"nulls":                                      {body: ask(hi, `"system":null`, `"tools":null`, `"temperature":null`)},
		"Bedrock":                                    {body: `{"anthropic_version":"bedrock-2023-05-31","max_tokens":1,"messages":[` + hi + `]}`},
		"temperature 1 with thinking":                {body: ask(hi, manual, `"temperature":1.0`)},
		"mark of the request on a block of its kind": {body: ask(user(marked, marked, marked, marked), `"cache_control":{"type":"ephemeral"}`)},
	}
	for name, c := range good {
		c.judge = request("anthropic")
		good[name] = c
	}
	good["a count of tokens"] = ruleCase{judge: count("anthropic"), body: `{"model":"claude-opus-4-5","messages":[` + hi + `],` + tools + `,` + manual + `}`}
	clean(t, good)
}

func messagesCases() []ruleCase {
	cases := []ruleCase{
		{rule: "required", name: "model", body: `{"max_tokens":1,"messages":[` + hi + `]}`, message: "model: Field required"},
		{rule: "required", name: "max_tokens", body: `{"model":"m","messages":[` + hi + `]}`, message: "max_tokens: Field required"},
		{rule: "required", name: "messages", body: `{"model":"m","max_tokens":1}`, message: "messages: Field required"},
		{rule: "required", name: "content", body: ask(`{"role":"user"}`), message: "messages.0.content: Field required"},
		{rule: "required", name: "signature", body: ask(hi + `,` + assistant(`{"type":"thinking","thinking":"t"}`, word) + `,` + hi), message: "messages.1.content.0.thinking.signature: Field required"},
		{rule: "required", name: "redacted data", body: ask(hi + `,` + assistant(`{"type":"redacted_thinking"}`, word) + `,` + hi), message: "messages.1.content.0.redacted_thinking.data: Field required"},
		{rule: "required", name: "schema", body: ask(hi, `"tools":[{"name":"read"}]`), message: "tools.0.custom.input_schema: Field required"},
		{rule: "required", name: "budget", body: ask(hi, `"thinking":{"type":"enabled"}`), message: "thinking.enabled.budget_tokens: Field required"},
		{rule: "required", name: "text in a result", body: ask(hi + `,` + assistant(callA) + `,` + user(`{"type":"tool_result","tool_use_id":"toolu_a","content":[{"type":"text"}]}`)), message: "messages.2.content.0.tool_result.content.0.text.text: Field required"},
		{rule: "required", name: "image source", body: ask(user(`{"type":"image"}`)), message: "messages.0.content.0.image.source: Field required"},
		{rule: "type", name: "messages", body: `{"model":"m","max_tokens":1,"messages":{}}`, message: "messages: Input should be a valid list"},
		{rule: "type", name: "input", body: ask(hi + `,` + assistant(`{"type":"tool_use","id":"toolu_a","name":"read","input":"{}"}`) + `,` + user(resultA)), message: "messages.1.content.0.tool_use.input: Input should be a valid dictionary"},
		{rule: "type", name: "max_tokens", body: strings.Replace(ask(hi), "2000", `"2000"`, 1), message: "max_tokens: Input should be a valid integer"},
		{rule: "type", name: "text", body: ask(user(`{"type":"text","text":1}`)), message: "messages.0.content.0.text.text: Input should be a valid string"},
		{rule: "type", name: "stream", body: ask(hi, `"stream":"yes"`), message: "stream: Input should be a valid boolean"},
		{rule: "role", name: "tool", body: ask(hi + `,{"role":"tool","content":"x"}`)},
		{rule: "value", name: "temperature", body: ask(hi, `"temperature":1.5`)},
		{rule: "value", name: "thinking", body: ask(hi, `"thinking":{"type":"sometimes"}`)},
		{rule: "messages-empty", name: "none", body: ask(``), message: "messages: at least one message is required"},
		{rule: "content-empty", name: "a text", body: ask(`{"role":"user","content":""}`), message: "messages.0: all messages must have non-empty content"},
		{rule: "content-empty", name: "a list", body: ask(hi + `,` + assistant() + `,` + hi), message: "messages.1: all messages must have non-empty content except for the optional final assistant message"},
		{rule: "text-empty", name: "block", body: ask(user(`{"type":"text","text":""}`)), message: "text content blocks must be non-empty"},
		{rule: "text-empty", name: "white space", body: ask(user(`{"type":"text","text":" \n"}`)), message: "text content blocks must contain non-whitespace text"},
		{rule: "text-empty", name: "system", body: ask(hi, `"system":[{"type":"text","text":""}]`), message: "system: text content blocks must be non-empty"},
		{rule: "system-block", name: "image", body: ask(hi, `"system":[{"type":"image","text":"x"}]`)},
		{rule: "block-role", name: "result of an assistant", body: ask(hi + `,` + assistant(resultA) + `,` + hi), message: "`tool_result` blocks can only be in `user` messages"},
		{rule: "block-role", name: "thinking of a user", body: ask(user(think, word)), message: "`thinking` blocks can only be in `assistant` messages"},
		{rule: "block-role", name: "summary of a user", body: ask(user(`{"type":"compaction","content":"so far"}`, word)), message: "`compaction` blocks can only be in `assistant` messages"},
		{rule: "compaction-empty", name: "no word", body: ask(hi + `,` + assistant(`{"type":"compaction","content":""}`, word) + `,` + hi)},
		{rule: "compaction-place", name: "signed, behind others", body: ask(hi + `,` + assistant(`{"type":"compaction","content":"so far","signature":"s"}`, word) + `,` + hi), message: "messages.1.content.0: the `compaction` block must be the first block of the conversation"},
		{rule: "compaction-place", name: "two", body: ask(assistant(`{"type":"compaction","content":"so far","signature":"s"}`, word) + `,` + hi + `,` + assistant(`{"type":"compaction","content":"and on"}`, word) + `,` + hi)},
		{rule: "image", name: "the alphabet for addresses", body: ask(user(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"a-_="}}`)), message: "messages.0.content.0.image.source.base64.data: invalid base64 data"},
		{rule: "image", name: "no padding", body: ask(user(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aQ"}}`))},
		{rule: "media-source", name: "type", body: ask(user(`{"type":"image","source":{"type":"base64","media_type":"image/tiff","data":""}}`)), message: "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"},
		{rule: "first-role", name: "assistant", body: ask(assistant(word) + `,` + hi), message: `first message must use the "user" role`},

		{rule: "call-id", name: "pattern", body: ask(hi + `,` + assistant(strings.ReplaceAll(callA, "toolu_a", "a.b")) + `,` + user(strings.ReplaceAll(resultA, "toolu_a", "a.b"))), message: "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"},
		{rule: "call-id", name: "hosted pattern", body: ask(hi + `,` + assistant(strings.ReplaceAll(search, "srvtoolu_1", "x"), strings.ReplaceAll(hits, "srvtoolu_1", "x")) + `,` + hi), message: "String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'"},
		{rule: "call-id-unique", name: "in two rounds", body: ask(hi + `,` + assistant(callA) + `,` + user(resultA) + `,` + assistant(callA) + `,` + user(resultA)), message: "messages.3.content.0: `tool_use` ids must be unique"},
		{rule: "call-unanswered", name: "by a text", body: ask(hi + `,` + assistant(callA) + `,` + hi), message: "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_a. Each `tool_use` block must have a corresponding `tool_result` block in the next message."},
		{rule: "call-unanswered", name: "one of two", body: ask(hi + `,` + assistant(callA, callB) + `,` + user(resultA)), message: "immediately after: toolu_b"},
		{rule: "call-unanswered", name: "at the end", body: ask(hi + `,` + assistant(callA))},
		{rule: "result-first", name: "after a text", body: ask(hi + `,` + assistant(callA) + `,` + user(word, resultA)), message: "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_a"},
		{rule: "result-orphan", name: "no call", body: ask(hi + `,` + assistant(word) + `,` + user(resultA)), message: "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_a. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."},
		{rule: "result-orphan", name: "at the start", body: ask(user(resultA))},
		{rule: "result-orphan", name: "a round late", body: ask(hi + `,` + assistant(callA) + `,` + user(resultA) + `,` + assistant(callB) + `,` + user(resultB, resultA)), message: "messages.4.content.1: unexpected"},
		{rule: "result-duplicate", name: "two", body: ask(hi + `,` + assistant(callA) + `,` + user(resultA, resultA)), message: "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_a"},
		{rule: "result-hosted", name: "by the client", body: ask(hi + `,` + assistant(search, hits, word) + `,` + user(`{"type":"tool_result","tool_use_id":"srvtoolu_1"}`))},
		{rule: "hosted-unanswered", name: "and gone on", body: ask(hi + `,` + assistant(search, word) + `,` + hi), message: "messages.1: `web_search` tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block"},
		{rule: "hosted-unanswered", name: "text after the results", body: ask(hi + `,` + assistant(search, callA) + `,` + user(resultA, word))},
		{rule: "hosted-orphan", name: "no call", body: ask(hi + `,` + assistant(hits, word) + `,` + hi)},
		{rule: "hosted-orphan", name: "before the call", body: ask(hi + `,` + assistant(hits, search))},

		{rule: "system-place", name: "first", body: on("claude-opus-4-8", ask(sys+`,`+assistant(word)+`,`+hi)), message: "messages.0: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result."},
		{rule: "system-place", name: "before the user", body: on("claude-opus-4-8", ask(hi+`,`+sys+`,`+hi))},
		{rule: "system-model", name: "older", body: on("claude-sonnet-5", ask(hi+`,`+sys)), message: "messages.1: role 'system' is not supported on this model"},
		{rule: "system-model", name: "of the third generation", body: on("claude-3-7-sonnet-latest", ask(hi+`,`+sys))},
		{rule: "prefill", name: "on 4.6", body: on("claude-sonnet-4-6", ask(hi+`,`+assistant(word))), message: "This model does not support assistant message prefill. The conversation must end with a user message."},
		{rule: "prefill-space", name: "at the end", body: ask(hi + `,{"role":"assistant","content":"so "}`), message: "final assistant content cannot end with trailing whitespace"},
		{rule: "thinking-signature", name: "empty", body: ask(hi + `,` + assistant(`{"type":"thinking","thinking":"t","signature":""}`, word) + `,` + hi), message: "Invalid `signature` in `thinking` block"},
		{rule: "thinking-first", name: "after a text", body: ask(hi+`,`+assistant(word, think, word)+`,`+hi, manual), message: "messages.1.content.0: If an assistant message contains any thinking blocks, the first block must be `thinking` or `redacted_thinking`. Found `text`."},
		{rule: "thinking-loop", name: "dropped", body: ask(hi+`,`+assistant(callA)+`,`+user(resultA), manual, tools), message: "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block"},
		{rule: "thinking-last", name: "at the end", body: ask(hi + `,` + assistant(think)), message: "messages.1: The final block in an assistant message cannot be `thinking`."},
		{rule: "thinking-disabled", name: "at the end", body: ask(hi+`,`+assistant(think, word), `"thinking":{"type":"disabled"}`), message: "When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`"},
		{rule: "thinking-sampling", name: "temperature", body: ask(hi, manual, `"temperature":0`), message: "`temperature` may only be set to 1 when thinking is enabled"},
		{rule: "thinking-sampling", name: "top_k", body: ask(hi, manual, `"top_k":5`)},
		{rule: "forced-thinking", name: "manual", body: ask(hi, manual, tools, `"tool_choice":{"type":"any"}`), message: "Thinking may not be enabled when tool_choice forces tool use."},
		{rule: "forced-thinking", name: "on 5.5", body: on("claude-sonnet-5-5", ask(hi, tools, `"tool_choice":{"type":"any"}`))},
		{rule: "forced-thinking", name: "on Fable 5.1", body: on("claude-fable-5-1", ask(hi, tools, `"tool_choice":{"type":"tool","name":"read"}`))},
		{rule: "value", name: "block binding", body: ask(hi, `"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"warn"}}`), message: "thinking.adaptive.block_binding.prefix_mismatch_behavior: Input should be 'error' or 'drop_block'"},
		{rule: "defer-all", name: "all wait", body: ask(hi, `"tools":[`+later+`]`), message: "All tools have defer_loading set. At least one tool must be non-deferred."},
		{rule: "defer-search", name: "the search waits", body: ask(hi, tools[:len(tools)-1]+`,{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25","defer_loading":true}]`)},
		{rule: "defer-cache", name: "a mark on what waits", body: ask(hi, `"tools":[`+finder+`,{"name":"read","input_schema":{"type":"object"},"defer_loading":true,"cache_control":{"type":"ephemeral"}}]`), message: "Tool 'read' cannot have both defer_loading=true and cache_control set. Tools with defer_loading cannot use prompt caching."},
		{rule: "defer-reference", name: "found by the provider", body: ask(hi+`,`+assistant(toolSearch, toolHits, word)+`,`+hi, `"tools":[`+finder+`]`), message: "Tool reference 'read' has no corresponding tool definition"},
		{rule: "defer-reference", name: "found by the client", body: ask(hi+`,`+assistant(callA)+`,`+user(`{"type":"tool_result","tool_use_id":"toolu_a","content":[{"type":"tool_reference","tool_name":"gone"}]}`), tools), message: "Tool reference 'gone' has no corresponding tool definition"},
		{rule: "edit-order", name: "thinking second", body: ask(hi, `"context_management":{"edits":[{"type":"clear_tool_uses_20250919"},{"type":"clear_thinking_20251015"}]}`)},
		{rule: "edit-trigger", name: "early compaction", body: ask(hi, `"context_management":{"edits":[{"type":"compact_20260112","trigger":{"type":"input_tokens","value":49999}}]}`)},
		{rule: "required", name: "type of an edit", body: ask(hi, `"context_management":{"edits":[{"keep":3}]}`)},
		{rule: "budget", name: "small", body: ask(hi, `"thinking":{"type":"enabled","budget_tokens":1000}`), message: "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"},
		{rule: "budget", name: "the limit itself", body: ask(hi, `"thinking":{"type":"enabled","budget_tokens":2000}`), message: "`max_tokens` must be greater than `thinking.budget_tokens`"},
		{rule: "max-tokens", name: "negative", body: strings.Replace(ask(hi), "2000", "-1", 1), message: "max_tokens: must be greater than or equal to 1"},
		{rule: "max-tokens", name: "0 of a stream", body: strings.Replace(ask(hi, `"stream":true`), "2000", "0", 1)},

		{rule: "cache-form", name: "ttl", body: ask(user(`{"type":"text","text":"m","cache_control":{"type":"ephemeral","ttl":"2h"}}`))},
		{rule: "cache-count", name: "five", body: ask(user(marked, marked, marked, marked), `"system":[`+marked+`]`), message: "A maximum of 4 blocks with cache_control may be provided. Found 5."},
		{rule: "cache-count", name: "with the request's own", body: ask(user(marked, marked, marked, marked, word), `"cache_control":{"type":"ephemeral"}`), message: "Found 5."},
		{rule: "cache-order", name: "hour later", body: ask(user(hour), `"system":[`+marked+`]`), message: "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"},
		{rule: "cache-order", name: "two on one block", body: ask(user(marked), `"cache_control":{"type":"ephemeral","ttl":"1h"}`)},
		{rule: "cache-place", name: "thinking", body: ask(hi + `,` + assistant(`{"type":"thinking","thinking":"","signature":"s","cache_control":{"type":"ephemeral"}}`, word) + `,` + hi), message: "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted"},
		{rule: "tool-name", name: "of a tool", body: ask(hi, `"tools":[{"name":"a b","input_schema":{"type":"object"}}]`), message: "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"},
		{rule: "tool-name", name: "of a call", body: ask(hi + `,` + assistant(strings.Replace(callA, "read", "a.b", 1)) + `,` + user(resultA)), message: "messages.1.content.0.tool_use.name: String should match pattern"},
		{rule: "tool-name-unique", name: "two", body: ask(hi, `"tools":[{"name":"a","input_schema":{"type":"object"}},{"type":"x_1","name":"a"}]`), message: "tools: Tool names must be unique."},
		{rule: "tool-schema", name: "string", body: ask(hi, `"tools":[{"name":"a","input_schema":{"type":"string"}}]`), message: "tools.0.custom.input_schema.type: Input should be 'object'"},
		{rule: "tool-choice", name: "word", body: ask(hi, tools, `"tool_choice":{"type":"required"}`)},
		{rule: "tool-choice", name: "without tools", body: ask(hi, `"tool_choice":{"type":"auto"}`), message: "tool_choice may only be specified while providing tools."},
		{rule: "tool-choice", name: "unknown tool", body: ask(hi, tools, `"tool_choice":{"type":"tool","name":"write"}`), message: "Tool 'write' not found in provided tools"},
		{rule: "tool-schema", name: "alternatives at the root", body: ask(hi, `"tools":[{"name":"a","input_schema":{"type":"object","anyOf":[{"required":["x"]}]}}]`), message: "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"},
		{rule: "argument", name: "a space", body: ask(hi, `"tools":[{"name":"a","input_schema":{"type":"object","properties":{"x":{},"a b":{}}}}]`), message: "tools.0.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"},
		{rule: "media-source", name: "bytes of another type", body: ask(user(`{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"iVBORw0KGgoA"}}`)), message: "The image was specified using the image/jpeg media type, but the image appears to be a image/png image"},
		{rule: "setting", name: "both on 4.5", body: ask(hi, `"temperature":0.2`, `"top_p":0.9`), message: "`temperature` and `top_p` cannot both be specified for this model. Please use only one."},
		{rule: "setting", name: "a temperature on 4.7", body: on("claude-opus-4-7", ask(hi, `"temperature":0.2`)), message: "`temperature` is deprecated for this model."},
		{rule: "setting", name: "top_k in a cloud", body: on("us.anthropic.claude-opus-4-8-20260301-v1:0", ask(hi, `"top_k":5`)), message: "`top_k` is deprecated for this model."},
		{rule: "stop", name: "blank", body: ask(hi, `"stop_sequences":[" "]`), message: "stop_sequences: each stop sequence must contain non-whitespace"},
	}
	for i := range cases {
		cases[i].judge = request("anthropic")
	}
	return append(cases,
		// An empty text with a mark breaks two rules, so only its count of faults differs from the rest.
		ruleCase{rule: "text-empty", name: "marked", judge: func(body string) []check.Fault {
			faults := check.Request("anthropic", []byte(body))
			if len(faults) != 2 || faults[1].Rule != "cache-place" {
				return nil
			}
			return faults[:1]
		}, body: ask(user(`{"type":"text","text":"","cache_control":{"type":"ephemeral"}}`))},
	)
}

func TestMessagesRules(t *testing.T) { run(t, messagesCases()) }
