package gemini

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

func FuzzRequest(f *testing.F) { codectest.Fuzz(f, laws.AnyRequest, oddBodies()...) }

func FuzzResponse(f *testing.F) { codectest.Fuzz(f, laws.AnyReply, oddReplies()...) }

// FuzzStream holds that events do not depend on how a stream is cut, and that what was
// told can be told again.
func FuzzStream(f *testing.F) {
	for _, s := range streams() {
		f.Add([]byte(s), uint(3), uint(40))
	}
	f.Fuzz(func(t *testing.T, stream []byte, a, b uint) { laws.AnyStream(t, stream, a, b) })
}

func FuzzError(f *testing.F) {
	f.Add(400, []byte(errorBody("400", "The input token count (5) exceeds the maximum number of tokens allowed (4).", "INVALID_ARGUMENT", "")))
	f.Add(0, []byte(`[{"error":{"details":[{"@type":"x.RetryInfo","retryDelay":"1s"}],"message":"{\"error\":{\"message\":\"m\"}}"}}]`))
	f.Fuzz(func(t *testing.T, status int, body []byte) { codectest.AnyError(t, Codec{}, status, body) })
}
