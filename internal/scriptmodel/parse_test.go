package scriptmodel

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

func TestParse(t *testing.T) {
	s, err := Parse(`
# settings
window 8_000
output 1024   # of one reply
model "small-*" window 4000 output 500
count "chars/4"
key "sk-1"
secret "s"
bytes 1000
cache min 100
signatures drop
strict

reply
  text "one \"two\"\n"
reply 3 times when user "weather", no result, dialect "anthropic"
  thinking "hm"
  call get_weather {"city": "Paris, Texas", "n": [1, 2]}
  call shell ` + "`printf '%d\\n' 1`" + `
  stop pause
  usage input 10 read 2 output 5
  later 6m
  delay 10ms
  cut after 3 events
  drop after 100 bytes
reply always
  status 429 retry-after 3 "slow down"
`)
	if err != nil {
		t.Fatal(err)
	}
	want := &Script{
		Window: 8000, Output: 1024, Models: []Rule{{"small-*", 4000, 500}}, Count: "chars/4", Key: "sk-1", Secret: "s", Bytes: 1000,
		Cache: true, CacheMin: 100, Strict: true, Signatures: BindDrop,
		Replies: []Block{
			{Line: 14, Times: 1, Reply: Reply{Parts: []Saying{{Text: "one \"two\"\n"}}}},
			{
				Line: 16, Times: 3,
				When: []Condition{{Kind: WhenUser, Text: "weather"}, {Kind: WhenResult, Not: true}, {Kind: WhenDialect, Text: "anthropic"}},
				Reply: Reply{
					Parts: []Saying{
						{Kind: SayThinking, Text: "hm"},
						{Kind: SayCall, Name: "get_weather", Text: `{"city": "Paris, Texas", "n": [1, 2]}`},
						{Kind: SayShell, Text: `printf '%d\n' 1`},
					},
					Stop: llm.StopPause, Usage: &llm.Usage{Input: 10, CacheRead: 2, Output: 5}, Later: 6 * time.Minute, Delay: 10 * time.Millisecond,
					Faults: []Fault{{Kind: FaultCut, After: 3, Events: true}, {Kind: FaultDrop, After: 100}},
				},
			},
			{Line: 26, Reply: Reply{Status: 429, Retry: 3, Say: "slow down"}},
		},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}

func TestParseFaults(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"unknown setting", "windwo 1", `line 1: setting, want window, output, model,`},
		{"unknown setting shows itself", "\n\nwindwo 1", `got windwo`},
		{"no number", "window many", "line 1: window, want a whole number of at least 0, got many"},
		{"negative", "window -1", "got -1"},
		{"too much", "window 1 2", "line 1: line, want nothing more, got 2"},
		{"step without a reply", "  text \"a\"", "line 1: step, want a reply above it, got none"},
		{"step below a setting", "reply\n  text \"a\"\nstrict\n  text \"b\"", "line 4: step, want a reply above it"},
		{"unknown step", "reply\n  txet \"a\"", "line 2: step, want text, words,"},
		{"text without quotes", "reply\n  text hello", "line 2: text, want a quoted text, got hello"},
		{"open quote", "reply\n  text \"hello", "line 2: text, want one that ends with its quote"},
		{"broken arguments", "reply\n  call f {\"a\": }", "line 2: arguments, want a JSON object"},
		{"no tool", "reply\n  call", "line 2: call, want the name of a tool, got the end of the line"},
		{"unknown condition", "reply when usr \"a\"", "line 1: condition, want user, system,"},
		{"unknown dialect", "reply when dialect \"x\"", `line 1: dialect, want one of anthropic`},
		{"unknown stop", "reply\n  stop never", "line 2: stop, want end, tool,"},
		{"status that is none", "reply\n  status 200", "line 2: status, want an HTTP status of 400 to 599, got 200"},
		{"no unit", "reply\n  cut after 3", "line 2: after, want events or bytes, got the end of the line"},
		{"bytes where only events count", "reply\n  ping after 3 bytes", "line 2: after, want events, got bytes"},
		{"bad duration", "reply\n  delay soon", "line 2: delay, want a duration such as 200ms, got soon"},
		{"bad pattern", "model \"[\" window 1", "line 1: model, want a pattern"},
		{"unknown usage", "reply\n  usage tokens 3", "line 2: usage, want input, read,"},
		{"unknown estimator", "count \"words\"", "line 1: count"},
		{"half a repetition", "reply 3", "line 1: reply, want times"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse(c.script)
			if err == nil || !strings.HasPrefix(err.Error(), "scriptmodel: parse: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error, want one with %q, got %v", c.want, err)
			}
		})
	}
}

func TestDefaultText(t *testing.T) {
	if _, err := Parse(DefaultText()); err != nil {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(DefaultText())
	f.Add("reply 2 times when no result \"a\", json\n\tcall x.y {\"a\":\"b\"} # c\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err == nil && s == nil {
			t.Error("script, want one where there is no error, got none")
		}
	})
}
