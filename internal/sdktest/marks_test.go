package sdktest

import (
	"bytes"
	"context"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// markScript is a long work whose provider caches from a few tokens on.
const markScript = "cache min 50\n" + growingScript

// TestMarkedRequests: the official SDKs send what the engine has marked, the provider takes all of it, and what one request wrote the next one reads.
func TestMarkedRequests(t *testing.T) {
	for _, c := range []struct {
		recipe, model, mark string
		long                bool
		most, read          int // marks of a request; permille of all prompts that is read
	}{
		{"messages", "claude-sonnet-5", `"cache_control":`, false, 4, 500},
		{"messages streamed", "claude-sonnet-5", `"cache_control":`, true, 4, 500},
		{"chat", "gpt-5.6-luna", `"prompt_cache_breakpoint":`, false, 2, 500},
		{"chat streamed", "gpt-5", `"prompt_cache_key":`, false, 1, 500},
		{"responses", "gpt-5.6-luna", `"prompt_cache_key":`, false, 1, 500},
		{"gemini", "gemini-2.5-pro", `"cache`, false, 0, 500},
	} {
		t.Run(c.recipe+" "+c.model, func(t *testing.T) {
			server, url := scripted(t, markScript, false)
			p := must(policy.Preset("balanced"))
			p.Prompt.Long = c.long
			session := must(plimsoll.Open(t.Context(), plimsoll.Options{
				Policy: p, Targets: []budget.Target{{Model: c.model, Window: budget.Window{Capacity: 10_000, OutputReserve: 2_000}}},
				Prompt: &plimsoll.Prompt{Base: "You look after ships.", Memories: "The mate is called Ann."},
			}))
			work(t, session, recipes()[c.recipe](t, url, session))
			for i, call := range server.Log() {
				n := bytes.Count(call.Body, []byte(c.mark))
				if want := min(c.most, 3); n > c.most || i > 0 && n < want {
					t.Errorf("request %d: %d marks, want %d to %d:\n%s", i, n, want, c.most, call.Body)
				}
				if long := bytes.Contains(call.Body, []byte(`"ttl":"1h"`)); long != c.long {
					t.Errorf("request %d: the longest lifetime is asked for: %v, want %v", i, long, c.long)
				}
			}
			u := session.Bill().Usage
			if u.CacheRead*1000 < u.Prompt()*c.read {
				t.Errorf("read: %d of %d tokens", u.CacheRead, u.Prompt())
			}
			if (u.CacheWrite1h > 0) != c.long {
				t.Errorf("written for an hour: %d tokens", u.CacheWrite1h)
			}
		})
	}
}

// TestAutomaticMark: the mark that Anthropic sets itself goes with requests that have none of ours, and with up to three.
func TestAutomaticMark(t *testing.T) {
	for _, marks := range []string{"none", "sections"} {
		t.Run(marks, func(t *testing.T) {
			_, url := scripted(t, markScript, false)
			p := must(policy.Preset("balanced"))
			p.Prompt.Marks = marks
			session := must(plimsoll.Open(t.Context(), plimsoll.Options{
				Policy: p, Targets: []budget.Target{{Model: "claude-sonnet-5", Window: smallWindow}},
				Prompt: &plimsoll.Prompt{Base: "You look after ships.", Memories: "The mate is called Ann."},
			}))
			client := anthropicClient(url, 0)
			try(session.SetTools(t.Context(), []llm.Tool{{Name: "read_file", Schema: `{"type":"object"}`}}))
			for range 3 {
				try(session.Append(t.Context(), llm.UserText("Where is the load line?")))
				automaticStep(t.Context(), session, client)
			}
			if u := session.Bill().Usage; u.CacheRead == 0 {
				t.Errorf("read: %+v", u)
			}
		})
	}
}

// automaticStep asks with the automatic mark.
func automaticStep(ctx context.Context, session *plimsoll.Session, client anthropic.Client) {
	send := must(session.Prepare(ctx))
	body := must(codecs.Body(send.Request(), "anthropic", codecs.Members{"cache_control": map[string]string{"type": "ephemeral"}}))
	message, err := client.Messages.New(ctx, anthropic.MessageNewParams{}, option.WithRequestBody("application/json", body.JSON))
	try(err)
	try(session.Reply(ctx, must(body.Reply(message.RawJSON()))))
}
