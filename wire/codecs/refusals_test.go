package codecs

import (
	"fmt"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/wire"
)

// TestRefusals: what providers and gateways say, each with what a caller can do about it.
// Every codec reads every one alike, for a gateway answers in one dialect with the error of
// the provider behind it.
func TestRefusals(t *testing.T) {
	const (
		long    = wire.TooLong
		large   = wire.TooLarge
		rate    = wire.RateLimited
		billing = wire.Billing
		bad     = wire.BadRequest
	)
	said := func(message string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error"}}`, message)
	}
	tests := []struct {
		name         string
		status       int
		body         string
		class        wire.Class
		used, window int
		after        time.Duration
	}{
		// A prompt that is too long.
		{"llama.cpp, full", 400, said("Context size has been exceeded."), long, 0, 0, 0},
		{"llama.cpp, full, as a server's fault", 500, `{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`, long, 0, 0, 0},
		{"llama.cpp, shift", 400, said("the request exceeds the available context size. try increasing the context size or enable context shift"), long, 0, 0, 0},
		{"vLLM, at least", 400, said("This model's maximum context length is 4096 tokens. However, you requested 0 output tokens and your prompt contains at least 4097 input tokens, for a total of at least 4097 tokens."), long, 4097, 4096, 0},
		{"vLLM, passed", 400, said("You passed 4100 input tokens and requested 0 output tokens. However, the model's context length is only 4099 tokens, resulting in a maximum input length of 4099 tokens."), long, 4100, 4099, 0},
		{"brackets", 400, said("Input length (5300) exceeds model's maximum context length (4096)."), long, 5300, 4096, 0},
		{"the allowed input", 400, said("Input length 5393 exceeds the maximum allowed input length of 5040 tokens."), long, 5393, 5040, 0},
		{"Azure, a configured limit", 400, said("Input tokens exceed the configured limit of 7,200 tokens. Your messages resulted in 8,965 tokens. Please reduce the length of the messages."), long, 8965, 7200, 0},
		{"longer than", 400, said("The input (5000 tokens) is longer than the model's context length (4072 tokens)."), long, 5000, 4072, 0},
		{"z.ai", 400, `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`, long, 0, 0, 0},
		{"Copilot", 400, `{"error":{"message":"prompt token count of 9520 exceeds the limit of 8000","code":"model_max_prompt_tokens_exceeded"}}`, long, 9520, 8000, 0},
		{"Copilot, without its code", 400, said("prompt token count of 9520 exceeds the limit of 8000"), long, 9520, 8000, 0},
		{"xAI", 400, `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 8072 but the request contains 9812 tokens."}`, long, 9812, 8072, 0},
		{"DashScope", 400, `{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 9024]","type":"invalid_request_error","code":"invalid_parameter_error"}}`, long, 0, 9024, 0},
		{"Cerebras", 400, said("Please reduce the length of the messages or completion."), long, 0, 0, 0},
		{"Mistral", 400, `{"object":"error","message":"Prompt contains 4250 tokens and 0 draft tokens, too large for model with 4096 maximum context length","type":"invalid_request_message","code":"3051"}`, long, 4250, 4096, 0},
		{"TGI", 422, "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`\"}", long, 5000, 4096, 0},
		{"TGI behind FastAPI", 422, `{"detail":[{"msg":"inputs tokens + max_new_tokens must be <= 4096. Given: 5000 inputs tokens and 100 max_new_tokens"}]}`, long, 5000, 4096, 0},
		{"SGLang", 400, said("Requested token count exceeds the model's maximum context length of 6536 tokens. You requested a total of 6620 tokens: 6100 tokens from the input messages and 520 tokens for the completion."), long, 6100, 6536, 0},
		{"LM Studio", 400, said("The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length"), long, 0, 0, 0},
		{"Volcengine", 400, `{"error":{"code":"InvalidParameter","message":"Total tokens of image and text exceed max message tokens. (param: messages)"}}`, long, 0, 0, 0},
		{"MiniMax", 400, said("invalid params, context window exceeds limit (2013)"), long, 0, 0, 0},
		{"LiteLLM", 400, `{"error":{"message":"litellm.ContextWindowExceededError: AnthropicException - prompt is too long: 5233 tokens > 5000 maximum","type":null,"code":"400"}}`, long, 5233, 5000, 0},
		{"Bedrock", 400, `{"message":"The model returned the following errors: Input is too long for requested model."}`, long, 0, 0, 0},
		{"Ollama", 400, `{"error":"prompt too long; exceeded max context length by 4 tokens"}`, long, 0, 0, 0},
		{"above a limit on the rate by itself", 429, `{"error":{"message":"Request too large for m-1 on tokens per minute (TPM): Limit 4000, Requested 5000, please reduce your message size and try again.","type":"tokens","code":"rate_limit_exceeded"}}`, long, 5000, 4000, 0},
		{"by its code, whatever the status", 503, `{"error":{"message":"no","code":"context_length_exceeded"}}`, long, 0, 0, 0},
		{"nobody's words", 400, said("The conversation of 9001 tokens is larger than the 8192 that this deployment takes."), long, 9001, 8192, 0},
		{"nobody's words, the window first", 400, said("Request exceeds the context window: limit 8192, got 9001."), long, 9001, 8192, 0},

		// Numbers that are no sizes of the prompt or of the window.
		{"an id of a request", 400, `{"message":"Input is too long for requested model. (Service: BedrockRuntime, Status Code: 400, Request ID: 7b1e4096-4f89-11d3-9a0c-0305e82c9301)"}`, long, 0, 0, 0},
		{"an id of a request that a relay adds", 400, said("Your input exceeds the context window of this model. (request id: 7b1e4096-4f89-11d3-9a0c-0305e82c9301)"), long, 0, 0, 0},
		{"an id of digits", 400, said("Context size has been exceeded. Request id 20260714101112, trace 7f3a1234bc5678"), long, 0, 0, 0},
		{"a version and a project", 400, said("Prompt is too long for model m-4-5@20260929 in project 1234567"), long, 0, 0, 0},
		{"a date and a time", 400, said("Prompt is too long (2026-07-14T10:11:12.4096Z, limit of 2026-08-01)"), long, 0, 0, 0},
		{"other units", 400, said("Prompt is too long: try 1024 fewer words, at most 32768 characters"), long, 0, 0, 0},
		{"other units behind known words", 400, said("prompt is too long: 1234567 characters, limit 1000000 characters"), long, 0, 0, 0},
		{"what a gateway counts", 400, said("litellm.ContextWindowExceededError: prompt is too long. Received Model Group=m\nAvailable Model Group Fallbacks=None. LiteLLM Retries: 3000. Deployment timeout 6000"), long, 0, 0, 0},
		{"the output that was asked for", 400, said("Your prompt plus 16000 tokens to generate exceeds the context window, max output tokens 8192"), long, 0, 0, 0},
		{"the window beside that output", 400, said("The prompt plus 16000 tokens to generate exceeds the context window of 131072 tokens"), long, 0, 131072, 0},
		{"a sum in brackets", 400, said("context length exceeded: 131073 tokens (65537 input + 65536 output)"), long, 0, 0, 0},
		{"by how much", 400, `{"message":"too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs. The limit for this model is 128000 tokens."}`, long, 0, 128000, 0},
		{"less used than there is room", 400, said("The prompt is too long: it has 4000 tokens, limit 8192 tokens"), long, 0, 0, 0},

		// Other orders and words for both sizes.
		{"the model's maximum", 400, said("The prompt is too long: 140000, model maximum context length: 131071"), long, 140000, 131071, 0},
		{"the maximum length", 400, `{"error":{"code":"InvalidParameter","message":"Input length 230001 exceeds the maximum length 229376. Request id: 021767abc1234d5678ef","param":"messages","type":"BadRequest"}}`, long, 230001, 229376, 0},
		{"less than, given", 422, said("The prompt is too long: `inputs` must have less than 131072 tokens. Given: 140000"), long, 140000, 131072, 0},
		{"cannot exceed, received", 400, `{"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292."}`, long, 4292, 4081, 0},
		{"the prompt in brackets", 400, `{"object":"error","message":"The number of tokens in the prompt (33000) exceeds the model's maximum context length of 32768","code":"3051"}`, long, 33000, 32768, 0},
		{"requested", 400, said("Requested 140000 tokens which exceeds the maximum context length of 127072"), long, 140000, 127072, 0},
		{"in the messages", 400, `{"status":400,"title":"Bad Request","detail":"This model's maximum context length is 131072 tokens. However, you requested 140000 tokens in the messages, Please reduce the length of the messages."}`, long, 140000, 131072, 0},
		{"while limit is", 400, `{"message":"Please reduce the length of the messages or completion. Current length is 70000 while limit is 65536","code":"context_length_exceeded"}`, long, 70000, 65536, 0},

		// The wordings of more servers.
		{"Titan", 400, `{"message":"Too many input tokens. Max input tokens: 8192, request input token count: 11100"}`, long, 11100, 8192, 0},
		{"TGI, the prompt alone", 422, "{\"error\":\"Input validation error: `inputs` must have less than 4096 tokens. Given: 5120\",\"error_type\":\"validation\"}", long, 5120, 4096, 0},
		{"LM Studio, the first to keep", 400, `{"error":"Cannot truncate prompt with n_keep (9021) >= n_ctx (4096)"}`, long, 9021, 4096, 0},
		{"GitHub Models", 413, `{"error":{"code":"tokens_limit_reached","message":"Request body too large for m-4o model. Max size: 8000 tokens.","details":"Request body too large for m-4o model. Max size: 8000 tokens."}}`, long, 0, 8000, 0},
		{"Cloudflare, a list of errors", 400, `{"errors":[{"message":"AiError: AiError: The estimated number of input and maximum output tokens (140000) exceeded this model context window limit (128000).","code":5021}],"success":false,"result":{},"messages":[]}`, long, 140000, 128000, 0},
		{"watsonx, a list of errors", 400, `{"errors":[{"code":"invalid_input_argument","message":"Invalid input argument for Model 'm': the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model"}],"status_code":400}`, long, 9000, 8192, 0},

		// What only looks like it.
		{"room for the reply, Bedrock", 400, `{"message":"The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096."}`, bad, 0, 0, 0},
		{"a token that is a pass", 400, said("Token validation failed: request exceeds permitted scopes for token"), bad, 0, 0, 0},
		{"calls that are too many", 400, said("Your message contains more than 20 tool calls; context: token bucket"), bad, 0, 0, 0},
		{"an account without the right", 400, `{"message":"Your account is not authorized to invoke this API operation."}`, wire.Auth, 0, 0, 0},
		{"a list of errors about something else", 400, `{"errors":[{"code":"invalid_request","message":"Missing field: messages"}]}`, bad, 0, 0, 0},
		{"a limit on the rate", 429, `{"error":{"message":"ThrottlingException: Too many tokens, please wait before trying again.","type":"throttling_error"}}`, rate, 0, 0, 0},
		{"a limit on the rate, as a bad request", 400, `{"message":"ThrottlingException: Too many tokens, please wait before trying again."}`, rate, 0, 0, 0},
		{"a limit on the rate, for the day", 400, `{"message":"ThrottlingException: Too many tokens per day, please wait before trying again."}`, rate, 0, 0, 24 * time.Hour},
		{"an overloaded server", 503, said("Too many tokens, please wait before trying again."), wire.Overloaded, 0, 0, 0},
		{"a rate that speaks of long prompts", 429, said("maximum context length reached for this minute"), rate, 0, 0, 0},
		{"the rate of a minute", 429, `{"error":{"message":"Rate limit reached for m-1 in organization org-none on tokens per min (TPM): Limit 5000, Used 4800, Requested 450. Please try again in 3.0s.","type":"tokens","code":"rate_limit_exceeded"}}`, rate, 0, 0, 3 * time.Second},
		{"the rate of a day, with its wait", 429, `{"error":{"message":"Rate limit reached for m-1 on tokens per day (TPD): Limit 5000, Used 4800, Requested 450. Please try again in 28m48s.","code":"rate_limit_exceeded"}}`, rate, 0, 0, 28*time.Minute + 48*time.Second},
		{"room for the reply", 400, said("max_tokens is too large: 99999. This model supports at most 8000 completion tokens"), bad, 0, 0, 0},
		{"room for the reply, Anthropic", 400, said("max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for m-1"), bad, 0, 0, 0},
		{"an id that is too long", 400, said("Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 64 instead."), bad, 0, 0, 0},
		{"an id that is too long, by its code", 400, `{"error":{"message":"Invalid 'tools[0].name': string too long. Expected a string with maximum length 64, but got a string with length 70 instead.","code":"string_above_max_length"}}`, bad, 0, 0, 0},
		{"an output that is too long", 400, said("Invalid 'input[3].output': string too long. Expected a string with maximum length 10485760, but got a string with length 11000000 instead."), large, 0, 0, 0},
		{"a token that is too long", 401, said("The access token in your request is too long"), wire.Auth, 0, 0, 0},

		// vLLM, which takes what is left of the window for the reply's limit, and the same words about a limit that was asked for.
		{"vLLM, nothing left for the reply", 400, `{"error":{"message":"max_tokens must be at least 1, got -46771. (parameter=max_tokens, value=-46771)","type":"BadRequestError","param":"max_tokens","code":400}}`, long, 0, 0, 0},
		{"vLLM, a limit of -1", 400, `{"error":{"message":"max_tokens must be at least 1, got -1.","type":"BadRequestError","param":"max_tokens","code":400}}`, bad, 0, 0, 0},
		{"vLLM, a limit of 0", 400, said("max_tokens must be at least 1, got 0."), bad, 0, 0, 0},
		{"vLLM, the reply's limit above what is left", 400, said("'max_tokens' or 'max_completion_tokens' is too large: 3000. This model's maximum context length is 4096 tokens and your request has 2000 input tokens (3000 > 4096 - 2000)."), long, 2000, 4096, 0},
		{"vLLM, the input alone", 400, said("This model's maximum context length is 4096 tokens. However, your request has 4200 input tokens. Please reduce the length of the input messages."), long, 4200, 4096, 0},

		// Codes (docs.z.ai, "API code"; platform.minimax.io, "Error Codes"; the GitHub issues zai-org/GLM-5#148, MiniMax-AI/MiniMax-M2#119).
		{"z.ai, a long prompt by its code", 400, `{"error":{"code":"1261","message":"Prompt 超长"}}`, long, 0, 0, 0},
		{"z.ai, no money, by its code", 429, `{"error":{"code":"1113","message":"no"}}`, billing, 0, 0, 0},
		{"z.ai, no money, by its words", 429, `{"error":{"message":"余额不足或无可用资源包,请充值。"}}`, billing, 0, 0, 0},
		{"z.ai, the plan's week", 429, `{"type":"error","error":{"type":"rate_limit_error","code":"1310","message":"[1310][Weekly/Monthly Limit Exhausted. Your limit will reset at 2031-08-01 10:03:40]"}}`, billing, 0, 0, 0},
		{"z.ai, the plan's week, relayed", 429, said("Weekly/Monthly Limit Exhausted. Your limit will reset at 2031-08-01 10:03:40"), billing, 0, 0, 0},
		{"z.ai, the rate, inside a stream", 0, `{"error":{"code":"1302","message":"您的账户已达到速率限制"}}`, rate, 0, 0, 0},
		{"z.ai, a busy model", 429, `{"error":{"code":"1312","message":"该模型当前访问量过大"}}`, wire.Overloaded, 0, 0, 0},
		{"z.ai, a parameter", 400, `{"error":{"code":"1214","message":"messages 参数非法。请检查文档。"}}`, bad, 0, 0, 0},
		{"MiniMax, no money", 200, `{"id":"a","choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`, billing, 0, 0, 0},
		{"MiniMax, no money, as a server's fault", 500, `{"base_resp":{"status_code":1008,"status_msg":"no"}}`, billing, 0, 0, 0},
		{"MiniMax, the rate", 200, `{"base_resp":{"status_code":1002,"status_msg":"rate limit"}}`, rate, 0, 0, 0},
		{"MiniMax, the rate of tokens", 200, `{"base_resp":{"status_code":1039,"status_msg":"token limit"}}`, rate, 0, 0, 0},
		{"MiniMax, a plan", 200, `{"base_resp":{"status_code":2056,"status_msg":"usage limit exceeded"}}`, billing, 0, 0, 0},
		{"MiniMax, a wrong key", 200, `{"base_resp":{"status_code":2049,"status_msg":"invalid api key"}}`, wire.Auth, 0, 0, 0},
		{"MiniMax, a long prompt", 200, `{"base_resp":{"status_code":2013,"status_msg":"invalid params, context window exceeds limit"}}`, long, 0, 0, 0},
		{"MiniMax, a parameter", 200, `{"base_resp":{"status_code":2013,"status_msg":"invalid params, tool result's tool id not found"}}`, bad, 0, 0, 0},
		{"MiniMax, its own fault", 200, `{"base_resp":{"status_code":1033,"status_msg":"system error"}}`, wire.ServerFault, 0, 0, 0},
		{"a number that is MiniMax's for a rate", 401, `{"error":{"code":"1002","message":"token"}}`, wire.Auth, 0, 0, 0},

		// Bedrock, of the model behind it ("ModelErrorException", "ModelStreamErrorException").
		{"Bedrock, the model", 424, `{"message":"The system encountered an unexpected error during processing. Try your request again.","originalStatusCode":500,"resourceName":"m"}`, wire.ServerFault, 0, 0, 0},
		{"Bedrock, the model, by its name", 424, `{"message":"no","__type":"ModelErrorException"}`, wire.ServerFault, 0, 0, 0},
		{"Bedrock, the model's rate", 424, `{"message":"no","originalStatusCode":429,"resourceName":"m"}`, rate, 0, 0, 0},
		{"Bedrock, the model refuses", 424, `{"message":"no","originalStatusCode":400,"resourceName":"m"}`, bad, 0, 0, 0},
		{"Bedrock, the model refuses a long prompt", 424, `{"message":"The model failed","originalStatusCode":400,"originalMessage":"prompt is too long: 5001 tokens > 5000 maximum"}`, long, 5001, 5000, 0},

		// Events of the Responses API, as they are handed over.
		{"an event error", 0, `{"type":"error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model.","param":"input","sequence_number":2}`, long, 0, 0, 0},
		{"a response that failed", 0, `{"type":"response.failed","sequence_number":3,"response":{"id":"r","status":"failed","error":{"code":"context_length_exceeded","message":"no"}}}`, long, 0, 0, 0},
		{"a response that failed of the rate", 0, `{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"Rate limit reached on tokens per min (TPM): Limit 5000, Used 4800, Requested 450. Please try again in 3.0s."}}}`, rate, 0, 0, 3 * time.Second},
		{"a response that failed of its prompt", 0, `{"type":"response.failed","response":{"error":{"code":"invalid_prompt","message":"no"}}}`, bad, 0, 0, 0},
		{"a response that failed of an image", 0, `{"type":"response.failed","response":{"error":{"code":"image_too_large","message":"no"}}}`, large, 0, 0, 0},
		{"a response that failed without a word", 0, `{"type":"response.failed","response":{"id":"r","status":"failed","error":null}}`, wire.ServerFault, 0, 0, 0},

		// Texts that are no JSON.
		{"a line", 400, "prompt is too long: 5001 tokens > 5000 maximum", long, 5001, 5000, 0},
		{"the second line", 400, "Bad Request\n\nThis model's maximum context length is 4096 tokens. However, your request has 4200 input tokens.", long, 4200, 4096, 0},
		{"a proxy's page", 413, "<html><head><title>413 Request Entity Too Large</title></head></html>", large, 0, 0, 0},
		{"a proxy's line", 429, "Too Many Requests", rate, 0, 0, 0},

		// A message that is an object, or lies in one.
		{"a message that is an object", 400, `{"error":{"message":{"message":"prompt is too long: 5001 tokens > 5000 maximum"},"type":"invalid_request_error"}}`, long, 5001, 5000, 0},
		{"a message with the error as an object", 400, `{"message":{"error":{"message":"no","code":"context_length_exceeded"}}}`, long, 0, 0, 0},
		{"a message of unknown members", 400, `{"error":{"message":{"reason":"prompt is too long: 5001 tokens > 5000 maximum"}}}`, long, 5001, 5000, 0},

		// A length and a limit, and prompts that are too long with the output.
		{"a length while there is a limit", 400, said("Please reduce the length of the messages or completion. Current length is 8200 while limit is 8192"), long, 8200, 8192, 0},
		{"the same without advice", 400, said("Current length is 8200 while limit is 8192"), long, 8200, 8192, 0},
		{"a prompt plus the output", 400, said("input tokens 150000 plus max_tokens 16384 exceeds the context window of 163840"), long, 150000, 163840, 0},
		{"a prompt and the output, in brackets", 400, said("The sum of input tokens (150000) and max_tokens (16384) exceeds the context window of 163840 tokens"), long, 150000, 163840, 0},
		{"a prompt that would fit with the output", 400, said("input tokens 150000 plus max_tokens 1024 exceeds the context window of 163840"), long, 0, 163840, 0},

		// Words of a long prompt about something else.
		{"a cache that is too small", 400, `{"error":{"code":400,"message":"Cached content is too small: the input token count is 808, min_total_token_count=1024","status":"INVALID_ARGUMENT"}}`, bad, 0, 0, 0},
		{"a stop sequence", 400, said("The stop sequence has too many tokens"), bad, 0, 0, 0},
		{"a table of biases", 400, said("logit_bias has too many tokens: at most 300 are supported"), bad, 0, 0, 0},

		// What waiting does not cure.
		{"Copilot, the month's requests", 429, `{"error":{"message":"no","code":"quota_exceeded"}}`, billing, 0, 0, 0},
		{"Copilot, its words", 429, said("You have exceeded your premium request allowance."), billing, 0, 0, 0},
		{"OpenRouter, the day's free requests", 429, `{"error":{"message":"Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"50","X-RateLimit-Remaining":"0"}}}}`, billing, 0, 0, 0},
		{"OpenRouter, the same with money", 429, `{"error":{"message":"Rate limit exceeded: free-models-per-day-high-balance. ","code":429}}`, billing, 0, 0, 0},
		{"OpenRouter, the minute's free requests", 429, `{"error":{"message":"Rate limit exceeded: free-models-per-min. ","code":429}}`, rate, 0, 0, 0},
		{"xAI's credits", 429, `{"code":"Some resource has been exhausted","error":"Your team x has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit."}`, billing, 0, 0, 0},
		{"Kimi's account", 429, `{"error":{"message":"Your account org-x is suspended, please check your plan and billing details","type":"exceeded_current_quota_error"}}`, billing, 0, 0, 0},
		{"LiteLLM's budget", 400, `{"error":{"message":"Budget has been exceeded! Current cost: 10.2, Max budget: 10.0","type":"budget_exceeded","param":null,"code":"400"}}`, billing, 0, 0, 0},
		{"LiteLLM's budget of a key", 403, `{"error":{"message":"Budget has been exceeded! Current cost: 10.2, Max budget: 10.0","type":"auth_error","param":null,"code":"403"}}`, billing, 0, 0, 0},
		{"LiteLLM's budget of a team", 400, said("ExceededBudget: Team=a over budget. Spend=10.2, Budget=10.0"), billing, 0, 0, 0},
		{"DashScope's account", 400, `{"error":{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing.","type":"Arrearage"}}`, billing, 0, 0, 0},
		{"a plan is used up", 429, `{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_in_seconds":5400}}`, billing, 0, 0, 90 * time.Minute},
		{"Google, the day's quota", 429, `{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]}}`, billing, 0, 0, 0},
		{"Google, the day's tokens", 429, `{"error":{"code":429,"message":"Quota exceeded.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateContentInputTokensPerModelPerDay-FreeTier"}]}]}}`, billing, 0, 0, 0},
		{"Google, no quota at all", 429, `{"error":{"code":429,"message":"You exceeded your current quota. * Quota exceeded for metric: free_tier_requests, limit: 0, model: m-1","status":"RESOURCE_EXHAUSTED"}}`, billing, 0, 0, 0},
		{"OpenAI, no money", 429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`, billing, 0, 0, 0},
		{"OpenRouter, no money", 402, `{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 6400 tokens, but can only afford 900.","code":402}}`, billing, 0, 0, 0},
		{"Anthropic, long prompts cost extra", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"Extra usage is required for long context requests."}}`, billing, 0, 0, 0},
		{"Anthropic, a limit that its owner set", 400, said("You have reached your specified API usage limits. You will regain access on 2031-01-01 at 00:00 UTC."), billing, 0, 0, 0},
		{"Anthropic, a spend limit by its code", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"no","details":{"error_code":"enforced_spend_limit_reached"}}}`, billing, 0, 0, 0},
		{"Anthropic, long prompts are not for this key", 400, said("The long context beta is not yet available for this subscription."), wire.Auth, 0, 0, 0},

		// The rest.
		{"Google, the minute's quota", 429, `{"error":{"code":429,"message":"You exceeded your current quota. * Quota exceeded for metric: input_token_count, limit: 2500\nPlease retry in 34.07s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"InputTokensPerModelPerMinute-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}`, rate, 0, 0, 34 * time.Second},
		{"an image that is too big", 400, said("messages.5.content.0.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes"), large, 0, 0, 0},
		{"an image above a limit", 400, said("Image size exceeds limit: 25MB > 20MB"), large, 0, 0, 0},
		{"an image of too many pixels", 400, said("The image is too large: 9000x9000 pixels"), large, 0, 0, 0},
		{"an output too large for a model of images", 400, said("max_tokens is too large: 90000. image-1 supports at most 8192 completion tokens"), bad, 0, 0, 0},
		{"an image among many", 400, said("messages.1.content.30.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"), large, 0, 0, 0},
		{"too many pages", 400, said("A maximum of 100 PDF pages may be provided."), large, 0, 0, 0},
		{"too many bytes", 413, `{"error":{"message":"Request too large","code":"request_too_large"}}`, large, 0, 0, 0},
		{"a leaked key", 403, `{"error":{"code":403,"message":"Your API key was reported as leaked. Please use another API key.","status":"PERMISSION_DENIED"}}`, wire.Auth, 0, 0, 0},
		{"a wrong key", 400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}`, wire.Auth, 0, 0, 0},
		{"an overloaded model", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, wire.Overloaded, 0, 0, 0},
		{"a runner that died", 500, `{"error":"llama runner process has terminated: exit status 2"}`, wire.ServerFault, 0, 0, 0},
		{"no tools", 400, `{"error":"registry.none/library/m-1 does not support tools"}`, bad, 0, 0, 0},
		{"no model", 404, `{"error":"model \"m-1\" not found, try pulling it first"}`, wire.NotFound, 0, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, c := range All() {
				e := c.DecodeError(test.status, []byte(test.body))
				got := fmt.Sprintf("%v, %d of %d tokens, after %v", e.Class, e.Used, e.Window, e.RetryAfter)
				want := fmt.Sprintf("%v, %d of %d tokens, after %v", test.class, test.used, test.window, test.after)
				if got != want {
					t.Errorf("%s: want %s, got %s", c.Dialect(), want, got)
				}
			}
		})
	}
}
