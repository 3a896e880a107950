package codecs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/check"
)

// within are outputs of tools with a person's words at their end, as Claude Code puts them
// there, as JSON: %s stands for the words.
var within = map[string]string{
	"string":            `"out\n\n%s"`,
	"string, reminders": `"out <system-reminder>Careful.</system-reminder>\n%s\n<system-reminder>Tidy up.</system-reminder>\n"`,
	"block":             `[ {"type":"text","text":"out\n%s"} ]`,
	"block of its own":  `[{"type":"text","text":"out"}, {"type":"text","text":"%s"}]`,
	"beside an image":   `[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}},{"type":"text","text":"%s"}]`,
}

const (
	wordsWithin = `<system-reminder>\nThe user sent a new message while you were working:\nStop.\n</system-reminder>`
	bodyWithin  = `{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}},{"type":"tool_use","id":"d","name":"f","input":{}}]},` +
		`{"role":"user","content":[ {"type":"tool_result","tool_use_id":"c","content":%s,"cache_control":{"type":"ephemeral"}} ,{"type":"tool_result","tool_use_id":"d","content":"other"}]}]}`
)

// What a person said within an output is a person's; untouched it leaves as it came, and an
// edit of the output leaves it where it stands.
func TestWordsWithinResults(t *testing.T) {
	for name, content := range within {
		t.Run(name, func(t *testing.T) {
			body := fmt.Sprintf(bodyWithin, fmt.Sprintf(content, wordsWithin))
			r := decoded(t, "anthropic", body)
			if len(r.Messages) != 5 || r.Messages[2].Origin != llm.ToolRun || r.Messages[3].Origin != llm.Human || r.Messages[4].Origin != llm.ToolRun {
				t.Fatalf("got %+v", r.Messages)
			}
			if got := encoded(t, "anthropic", r); got != body {
				t.Errorf("untouched: got %s", got)
			}
			rest, words := r.Messages[2], r.Messages[3]
			if strings.Contains(string(edit.Stored(rest.Results()[0])), "Stop.") || !strings.Contains(words.Text(), "Stop.") {
				t.Errorf("the output is %q, the words %q", edit.Stored(rest.Results()[0]), words.Text())
			}
			short := rest.WithParts([]llm.Part{rest.Results()[0].WithContent(llm.Stub{Text: "short"})})
			marked, _ := anthropic.Marked(words, []byte(`{"type":"ephemeral","ttl":"1h"}`))
			for what, c := range map[string]struct {
				msgs []llm.Message
				want []string
				gone string
			}{
				"the output is short":   {[]llm.Message{short, words}, []string{"short", "Stop.", `"cache_control":{"type":"ephemeral"}`}, `"out`},
				"the words have gone":   {[]llm.Message{rest}, []string{`"cache_control":{"type":"ephemeral"}`}, "Stop."},
				"the words have a mark": {[]llm.Message{rest, marked}, []string{fmt.Sprintf(content, wordsWithin), `"ttl":"1h"`}, `"cache_control":{"type":"ephemeral"}`},
			} {
				edited := r
				edited.Messages = append(append(r.Messages[:2:2], c.msgs...), r.Messages[4])
				got := encoded(t, "anthropic", edited)
				for _, want := range c.want {
					if !strings.Contains(got, want) {
						t.Errorf("%s: want %s, got %s", what, want, got)
					}
				}
				if faults := check.Request("anthropic", []byte(got)); strings.Contains(got, c.gone) || len(faults) != len(check.Request("anthropic", []byte(body))) {
					t.Errorf("%s: want no %s, got %s, %v", what, c.gone, got, faults)
				}
			}
		})
	}
}

// What a tool itself prints is its output, also where it quotes a client.
func TestNoWordsWithinResults(t *testing.T) {
	for _, content := range []string{
		`"out"`, `""`, `[]`, `null`, `"out <system-reminder>Careful.</system-reminder>"`, `"` + wordsWithin + `"`, `[{"type":"text","text":"` + wordsWithin + `"}]`,
		`"out ` + wordsWithin + ` and more of it"`, `"out\nThe user sent a new message while you were working:\nStop."`, `"<b>The user sent the following message:</b>"`,
		`[{"type":"text","text":"out ` + wordsWithin + `"},{"type":"text","text":"more"}]`,
	} {
		r := decoded(t, "anthropic", fmt.Sprintf(bodyWithin, content))
		if len(r.Messages) != 3 || len(r.Frame.Mixed) > 0 {
			t.Errorf("%s: %d messages, want 3", content, len(r.Messages))
		}
	}
}
