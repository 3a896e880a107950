package wire

import (
	"errors"
	"testing"
	"time"
)

// FuzzDecodeError: no body makes it panic, and no figure of it is one that cannot be.
func FuzzDecodeError(f *testing.F) {
	for _, body := range []string{
		`{"error":{"message":"prompt is too long: 213462 tokens > 200000 maximum","type":"invalid_request_error","n_ctx":-4,"resets_in_seconds":1e300}}`,
		`{"error":{"message":"Rate limit: try again in -3s, limit -5, requested 999999999999999999999","code":429}}`,
		`[{"error":{"code":429,"message":"{\"error\":{\"message\":\"{\\\"error\\\":{}}\"}}","details":[{"@type":"a.RetryInfo","retryDelay":"-1s"},{"@type":"a.QuotaFailure","violations":7}]}}]`,
		`Error -7, Message: {"a":1}, Status: x, Details: [{`, `status code: 404 {"error":"x"}}`, `received error while streaming: `,
		`{"detail":[{"msg":"tokens (12 in the messages, 99999999999999999999999 of text"}]}`, `"text"`, `<html><title>x`, `{`, ``,
	} {
		f.Add(400, []byte(body))
		f.Add(0, []byte(body))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		e := DecodeError(status, body)
		if e.Used < 0 || e.Window < 0 || e.RetryAfter < 0 || e.RetryAfter > 400*24*time.Hour {
			t.Errorf("figures, want none below 0 and no wait of years, got %d of %d after %v", e.Used, e.Window, e.RetryAfter)
		}
		if e.Class != TooLong && (e.Used != 0 || e.Window != 0) {
			t.Errorf("figures of %v, want none, got %d of %d", e.Class, e.Used, e.Window)
		}
		if e.Error() == "" {
			t.Error("text, want one, got none")
		}
		if e, ok := ErrorOf(errors.New(string(body))); ok && (e.Used < 0 || e.Window < 0 || e.Status != 0 && e.Status < 400) {
			t.Errorf("of a text, want figures from 0 and a status of an error, got %+v", e)
		}
	})
}

// TestLongWordsOfLimits: no words for a long prompt mean one where the status, a limit on the
// rate or the account is what was met.
func TestLongWordsOfLimits(t *testing.T) {
	for _, words := range tooLong {
		for _, status := range []int{401, 402, 403, 404, 429, 503, 504, 529} {
			if e := DecodeError(status, []byte(`{"error":{"message":"`+words+` 5000 tokens"}}`)); e.Class != ClassOfStatus(status) {
				t.Errorf("%q with %d, want %v, got %v", words, status, ClassOfStatus(status), e.Class)
			}
		}
		for _, other := range []string{"rate limit, please wait before trying again", "insufficient credits", "the model is overloaded", "in the stop sequence"} {
			if e := DecodeError(400, []byte(words+": "+other)); e.Class == TooLong {
				t.Errorf("%q, %s: want another class than %v", words, other, e.Class)
			}
		}
	}
}
