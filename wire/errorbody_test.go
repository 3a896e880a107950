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
