package sdktest

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
)

// scripted starts a scripted server. When the test ends, no request may have broken a rule
// of its dialect, but where faulty says so.
func scripted(t *testing.T, script string, faulty bool) (*scriptmodel.Server, string) {
	t.Helper()
	s, err := scriptmodel.Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	server := scriptmodel.New(s, scriptmodel.Options{})
	h := httptest.NewServer(server)
	t.Cleanup(h.Close)
	t.Cleanup(func() {
		for _, c := range server.Log() {
			for _, f := range c.Faults {
				t.Errorf("request, want no fault, got %s at %s: %s\n%s", f.Rule, f.Path, f.Message, c.Body)
			}
			if c.Error != nil && !faulty {
				t.Errorf("request, want it taken, got %v\n%s", c.Error, c.Body)
			}
		}
	})
	return server, h.URL
}

// loopScript is an agent's work: it thinks and calls two tools, one of them without
// arguments, then one more, then answers.
const loopScript = `
secret "k"
reply when no result
  thinking "Where is the load line – 水?"
  text "I look."
  call read_file {"path": "docs/水.md", "limit": 40}
  call list_files {}
reply when result "list_files"
  thinking "One more."
  call read_file {"path": "README.md"}
reply
  text "It is on her side."
`

// A loop drives an SDK through loopScript: it answers calls until there are none and
// returns the names of the tools in order and the last text.
type loop func(t *testing.T, url string, stream bool) (tools []string, last string)

func loops() map[string]loop {
	return map[string]loop{
		"anthropic": anthropicLoop, "chat": chatLoop, "responses": responsesLoop, "gemini": geminiLoop,
		"ollama": ollamaLoop,
	}
}

// TestToolLoop: an agent on each SDK works against the scripted model, which is strict
// about signatures, ids and pairs.
func TestToolLoop(t *testing.T) {
	for name, run := range loops() {
		for _, stream := range []bool{false, true} {
			t.Run(name+map[bool]string{true: " streamed"}[stream], func(t *testing.T) {
				server, url := scripted(t, loopScript, false)
				tools, last := run(t, url, stream)
				if diff := cmp.Diff([]string{"read_file", "list_files", "read_file"}, tools); diff != "" {
					t.Errorf("tools, want as scripted, got (-want +got):\n%s", diff)
				}
				if last != "It is on her side." {
					t.Errorf("last text, got %q", last)
				}
				for _, c := range server.Log() {
					roundTrip(t, c)
				}
			})
		}
	}
}

// roundTrip fails the test if a request that was read is not written back byte for byte.
func roundTrip(t *testing.T, c scriptmodel.Call) {
	t.Helper()
	codec := codecOf(t, c.Dialect)
	r, err := codec.DecodeRequest(c.Body)
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	again, err := codec.EncodeRequest(r)
	if err != nil || string(again) != string(c.Body) {
		t.Errorf("encode, want the same bytes, got %v\n%s\n%s", err, c.Body, again)
	}
}

func resultOf(tool string) string { return "the result of " + tool }

// TestFailsInStream: the provider's error event in the middle of a stream reaches the
// program as an error, and what was sent before it is no whole reply.
func TestFailsInStream(t *testing.T) {
	for name, d := range everyDialect() {
		t.Run(name, func(t *testing.T) {
			_, url := scripted(t, "reply\n  words 200\n  fail after 3 events\n", false)
			err := d.ask(t, url, 0, true)
			if err == nil || !strings.Contains(strings.ToLower(err.Error()), "overloaded") {
				t.Errorf("error, want one that says overloaded, got %v", err)
			}
		})
	}
}

// TestTooLong: a prompt above the window is refused in the words that clients look for.
func TestTooLong(t *testing.T) {
	for name, want := range map[string]refusal{
		"anthropic": {Status: 400, Type: invalid, Message: "prompt is too long:"},
		"chat":      {Status: 400, Type: invalid, Code: "context_length_exceeded", Message: "maximum context length is 1 tokens"},
		"responses": {Status: 400, Type: invalid, Code: "context_length_exceeded", Message: "context window"},
		"gemini":    {Status: 400, Type: "INVALID_ARGUMENT", Message: "exceeds the maximum number of tokens allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			_, url := scripted(t, "window 1\nreply always\n  text \"no\"\n", true)
			got := refusalOf(t, everyDialect()[name].ask(t, url, 0, false))
			if !strings.Contains(got.Message, want.Message) {
				t.Errorf("message, want one with %q, got %q", want.Message, got.Message)
			}
			got.Message, got.Param, want.Message = "", "", ""
			if got != want {
				t.Errorf("error, want %+v, got %+v", want, got)
			}
		})
	}
}

// TestWrongKey: every SDK sends its key where the provider looks for it.
func TestWrongKey(t *testing.T) {
	for name, d := range everyDialect() {
		t.Run(name, func(t *testing.T) {
			_, right := scripted(t, "key \"key\"\nreply always\n  text \"yes\"\n", false)
			if err := d.ask(t, right, 0, false); err != nil {
				t.Errorf("right key, want a reply, got %v", err)
			}
			_, wrong := scripted(t, "key \"other\"\nreply always\n  text \"yes\"\n", true)
			got := refusalOf(t, d.ask(t, wrong, 0, false))
			if got.Status != 401 && !(name == "gemini" && got.Status == 400) {
				t.Errorf("wrong key, want a 401, got %+v", got)
			}
		})
	}
}

// TestPings: events that mean nothing do not disturb a program.
func TestPings(t *testing.T) {
	for name, d := range everyDialect() {
		t.Run(name, func(t *testing.T) {
			_, url := scripted(t, "reply\n  words 50\n  ping after 1 events\n  ping after 4 events\n", false)
			if err := d.ask(t, url, 0, true); err != nil {
				t.Errorf("stream, want a reply, got %v", err)
			}
		})
	}
}
