package scriptmodel

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// TestStoredHistory: the history that the server holds counts as if it had been sent.
func TestStoredHistory(t *testing.T) {
	r := start(t, responses, "reply\n  call bash {\"command\":\"ls\"}\nreply when result \"README\"\n  text \"one file\"\nreply\n  text \"still one\"\n")
	body := swap(t, r.opening("start", false), `"store":false,`, "")
	first := r.ask(body, false)
	call := first.Message.Calls()[0].CallID
	followUp := `{"model":"m","previous_response_id":"` + first.ID + `","input":[{"type":"function_call_output","call_id":"` + call + `","output":"README"}]}`
	second := r.ask([]byte(followUp), false)
	if second.Message.Text() != "one file" {
		t.Errorf("second reply, want its text, got %q", second.Message.Text())
	}
	log := r.server.Log()
	if log[1].Prompt <= log[0].Prompt-20 || len(log[1].Request.Messages) < 3 {
		t.Errorf("second request, want it with the history, got %d tokens in %d messages", log[1].Prompt, len(log[1].Request.Messages))
	}
	third := r.ask([]byte(`{"model":"m","previous_response_id":"`+second.ID+`","input":"and now?"}`), false)
	if third.Message.Text() != "still one" {
		t.Errorf("third reply, want its text, got %q", third.Message.Text())
	}
	if g := r.send("GET", "/v1/responses/"+second.ID, nil); g.status != 200 || gjson.GetBytes(g.body, "id").String() != second.ID {
		t.Errorf("stored response, want it, got %d %s", g.status, g.body)
	}
	if g := r.send("DELETE", "/v1/responses/"+second.ID, nil); !gjson.GetBytes(g.body, "deleted").Bool() {
		t.Errorf("removal, want it confirmed, got %d %s", g.status, g.body)
	}
	e := r.refused([]byte(`{"model":"m","previous_response_id":"` + second.ID + `","input":"and now?"}`))
	if e.Code != "previous_response_not_found" || e.Status != 400 {
		t.Errorf("error, want previous_response_not_found, got %v", e)
	}
	t.Run("not kept", func(t *testing.T) {
		r := start(t, responses, "reply always\n  text \"x\"\n")
		id := r.ask(r.opening("x", false), false).ID
		if e := r.refused([]byte(`{"model":"m","previous_response_id":"` + id + `","input":"y"}`)); e.Code != "previous_response_not_found" {
			t.Errorf("error, want previous_response_not_found, got %v", e)
		}
	})
}

// TestCompact: what the user said stays, one sealed item stands for the rest, and it can be
// sent back.
func TestCompact(t *testing.T) {
	r := start(t, responses, threeRounds)
	body := r.rounds(2)
	g := r.send("POST", "/v1/responses/compact", body)
	output := gjson.GetBytes(g.body, "output")
	if g.status != 200 || gjson.GetBytes(g.body, "object").String() != "response.compaction" || output.Get("#").Int() != 2 {
		t.Fatalf("compaction, want the user's message and one item, got %d %s", g.status, g.body)
	}
	sealed := output.Get("1.encrypted_content").String()
	next := `{"model":"m","store":false,"input":` + strings.TrimSuffix(output.Raw, "]") + `,{"type":"message","role":"user","content":"go on"}]}`
	r.ask([]byte(next), false)
	if e := r.refused([]byte(strings.Replace(next, sealed, "AAAA", 1))); e.Class != wire.BadThinking {
		t.Errorf("damaged item, want bad thinking, got %v", e)
	}
}

// TestModels: models are listed and shown in the form of each dialect.
func TestModels(t *testing.T) {
	for _, c := range []struct {
		d            llm.Dialect
		method, path string
		body, id     string
		window       string
	}{
		{messages, "GET", "/v1/models?limit=1000", "", "data.0.id", "data.0.max_input_tokens"},
		{messages, "GET", "/v1/models/small", "", "id", "max_input_tokens"},
		{chat, "GET", "/v1/models", "", "data.0.id", ""},
		{generate, "GET", "/v1beta/models", "", "models.0.displayName", "models.0.inputTokenLimit"},
		{generate, "GET", "/v1beta/models/small", "", "displayName", "inputTokenLimit"},
		{native, "GET", "/api/tags", "", "models.0.name", ""},
		{native, "POST", "/api/show", `{"model":"small"}`, "", `model_info.scripted\.context_length`},
	} {
		r := start(t, c.d, "model \"small\" window 4000\nmodel \"*\" window 100\n")
		if c.d != messages {
			r.header.Del("Anthropic-Version")
		}
		g := r.send(c.method, c.path, []byte(c.body))
		if g.status != 200 || c.id != "" && gjson.GetBytes(g.body, c.id).String() != "small" {
			t.Errorf("%s %s, want the model, got %d %s", c.d, c.path, g.status, g.body)
		}
		if c.window != "" && gjson.GetBytes(g.body, c.window).Int() != 4000 {
			t.Errorf("%s %s, want its window, got %s", c.d, c.path, g.body)
		}
	}
}
