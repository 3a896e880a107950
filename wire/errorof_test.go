package wire

import (
	"errors"
	"fmt"
	"testing"
)

// An sdkError has what the errors of some SDKs have: its text states the status alone, or
// the request too; the body is asked for.
type sdkError struct{ text, json, dump string }

func (e *sdkError) Error() string   { return e.text }
func (e *sdkError) RawJSON() string { return e.json }

type dumpError struct{ sdkError }

func (e *dumpError) DumpResponse(bool) []byte {
	if e.dump == "" {
		panic("no answer")
	}
	return []byte(e.dump)
}

func TestErrorOf(t *testing.T) {
	const long = "prompt is too long: 5001 tokens > 5000 maximum"
	tests := []struct {
		name         string
		err          error
		class        Class
		status       int
		used, window int
	}{
		{"its own", fmt.Errorf("call: %w", &Error{Class: Billing, Status: 402}), Billing, 402, 0, 0},
		{"the member error", &sdkError{text: "API error: 400 Bad Request", json: `{"message":"` + long + `","type":"invalid_request_error"}`}, TooLong, 400, 5001, 5000},
		{"a text as the member error", &sdkError{text: "API error: 400 Bad Request", json: `"` + long + `"`}, TooLong, 400, 5001, 5000},
		{"the whole body", fmt.Errorf("step 4: %w", &sdkError{text: `POST "http://h/v1/400": 429 Too Many Requests {…}`, json: `{"error":{"message":"Too many tokens, please wait"}}`}), RateLimited, 429, 0, 0},
		{"only the answer", &dumpError{sdkError{text: "API error: 400 Bad Request", dump: "HTTP/1.1 400 Bad Request\r\nA: b\r\n\r\n" + `{"message":"` + long + `"}`}}, TooLong, 400, 5001, 5000},
		{"only an answer in chunks", &dumpError{sdkError{text: "OpenAI API error: 400 Bad Request", dump: "HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\na\r\nprompt is \r\n24\r\ntoo long: 5001 tokens > 5000 maximum\r\n0\r\n\r\n"}}, TooLong, 400, 5001, 5000},
		{"only a text", &dumpError{sdkError{text: "OpenAI API error: 502 Bad Gateway", dump: "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 11\r\n\r\nno upstream"}}, ServerFault, 502, 0, 0},
		{"no answer to show", &dumpError{sdkError{text: "API error: 413 Request Entity Too Large"}}, TooLarge, 413, 0, 0},
		{"Google's", fmt.Errorf("ask: %w", errors.New("Error 400, Message: The input token count (5001) exceeds the maximum number of tokens allowed (5000)., Status: INVALID_ARGUMENT, Details: []")), TooLong, 400, 5001, 5000},
		{"Google's, the day's quota", errors.New("Error 429, Message: You exceeded your current quota., Status: RESOURCE_EXHAUSTED, Details: [map[violations:[map[quotaId:RequestsPerDay-FreeTier]]]]"), Billing, 429, 0, 0},
		{"Google's, of another's body", errors.New(`Error 400, Message: {"object":"error","message":"` + long + `"}, Status: 400 Bad Request, Details: []`), TooLong, 400, 5001, 5000},
		{"inside a stream", errors.New(`received error while streaming: {"message":"` + long + `","type":"x"}`), TooLong, 0, 5001, 5000},
		{"a text inside a stream", errors.New("received error while streaming: " + long), TooLong, 0, 5001, 5000},
		{"an event error", errors.New(`the stream broke: {"type":"error","code":"context_length_exceeded","message":"` + long + `","sequence_number":2}`), TooLong, 0, 5001, 5000},
		{"an event of a response that failed", errors.New(`{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"no"}}}`), RateLimited, 0, 0, 0},
		{"a code and a text, as Python writes it", errors.New("Error code: 429 - {'error': {'code': '1113', 'message': 'Insufficient balance or no resource package.'}}"), Billing, 429, 0, 0},
		{"a status code and a text", errors.New("error, status code: 400, status: 400 Bad Request, message: " + long), TooLong, 400, 5001, 5000},
		{"the AWS SDK's", errors.New("operation error Bedrock Runtime: Converse, https response error StatusCode: 400, RequestID: 7b1e4096-4f89-11d3-9a0c-0305e82c9301, ValidationException: Input is too long for requested model"), TooLong, 400, 0, 0},
		{"a body in a text", errors.New(`the API said {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}} (twice})`), Overloaded, 0, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, ok := ErrorOf(test.err)
			if !ok || e.Class != test.class || e.Status != test.status || e.Used != test.used || e.Window != test.window {
				t.Errorf("error, want %v, status %d, %d of %d tokens, got %v %+v", test.class, test.status, test.used, test.window, ok, e)
			}
		})
	}
	for _, err := range []error{nil, errors.New(long), errors.New(`cannot write {"a":1}: prompt is too long`), errors.New("Error 7"), errors.New("dial tcp 10.0.0.1:400: refused"), (*Error)(nil)} {
		if e, ok := ErrorOf(err); ok {
			t.Errorf("%v, want no provider's error, got %+v", err, e)
		}
	}
}
