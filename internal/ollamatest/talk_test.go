package ollamatest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// Through each door a question is answered, whole and streamed.
func TestAnswers(t *testing.T) {
	s := serverOf(t)
	for _, provider := range doors() {
		d := s.open(t, provider)
		ways := map[string]func(*testing.T, llm.Request) llm.Response{"whole": d.complete, "streamed": d.stream}
		for way, ask := range ways {
			t.Run(provider+"/"+way, func(t *testing.T) {
				r := ask(t, request(s.model, "Write a long story about a ship."))
				if r.Message.Text() == "" || r.Usage.Input == 0 || r.Usage.Output == 0 || r.Model != s.model {
					t.Errorf("reply: want text, usage and the model's name, got %+v", r)
				}
				// On Responses the server says "completed" of a reply that met the limit.
				if provider != "openai" && r.Stop != llm.StopLength {
					t.Errorf("stop: want length, got %v (%s)", r.Stop, r.Reason)
				}
				if r.Usage.Output > 12 {
					t.Errorf("output: want the 12 tokens of the limit at most, got %d", r.Usage.Output)
				}
			})
		}
	}
}

// The limit of a request that is made here is one that the server knows the name of.
func TestOutputLimit(t *testing.T) {
	const far = 24
	s := serverOf(t)
	for _, provider := range doors() {
		t.Run(provider, func(t *testing.T) {
			pieces := 0
			d := s.open(t, provider)
			for e, err := range d.Stream(t.Context(), request(s.model, "Write a long story about a ship.")) {
				if err != nil {
					t.Fatal(err)
				}
				if e.Kind == llm.EventDelta {
					pieces++
				}
				if pieces > far {
					t.Fatalf("output: want an end after 12 tokens, got more than %d; the request was %s", far, d.last().request)
				}
			}
		})
	}
}

// The second time the server has the prompt in its memory; it counts it nevertheless.
func TestUsageCountsACachedPrompt(t *testing.T) {
	s := serverOf(t)
	d := s.open(t, "ollama")
	r := request(s.model, "Tell me of the sea, the wind and the sails.")
	r.MaxOutput = 2
	if first, second := d.complete(t, r), d.complete(t, r); first.Usage.Prompt() != second.Usage.Prompt() {
		t.Errorf("prompt: want the same twice, got %d and %d", first.Usage.Prompt(), second.Usage.Prompt())
	}
}

// A reply that a stop sequence ended, in the dialects that have such sequences.
func TestStopSequence(t *testing.T) {
	s := serverOf(t)
	for _, provider := range []string{"ollama", "openai-compatible", "anthropic"} {
		t.Run(provider, func(t *testing.T) {
			d := s.open(t, provider)
			r := request(s.model, "Write a long story about a ship.")
			r.Settings.Stop = []string{"e"}
			for _, got := range []llm.Response{d.complete(t, r), d.stream(t, r)} {
				if got.Stop != llm.StopEnd && got.Stop != llm.StopSequence || strings.Contains(got.Message.Text(), "e") {
					t.Errorf("reply: want no e and a natural end, got %q and %v", got.Message.Text(), got.Stop)
				}
			}
		})
	}
}

// A call that the server's grammar forces, in the dialects in which a request can demand a form.
func TestCallAndResult(t *testing.T) {
	const (
		schema = `{"type":"object","properties":{"name":{"const":"weather"},"arguments":{"type":"object",` +
			`"properties":{"city":{"const":"Oslo <&> \"\u00e9\""}},"required":["city"]}},"required":["name","arguments"]}`
		function = `"name":"weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`
		nested   = `[{"type":"function","function":{` + function + `}}]`
	)
	s := serverOf(t)
	bodies := map[string]string{
		"ollama": `{"model":%q,"messages":[{"role":"user","content":"Weather?"}],"tools":` + nested +
			`,"options":{"num_predict":120,"temperature":0},"format":` + schema + `,"keep_alive":"5m"}`,
		"openai-compatible": `{"model":%q,"messages":[{"role":"user","content":"Weather?"}],"tools":` + nested +
			`,"max_tokens":120,"temperature":0,"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":` + schema + `}}}`,
		"openai": `{"model":%q,"input":[{"role":"user","content":"Weather?"}],"tools":[{"type":"function",` + function +
			`}],"max_output_tokens":120,"temperature":0,"text":{"format":{"type":"json_schema","name":"x","schema":` + schema + `}}}`,
	}
	for provider, body := range bodies {
		d := s.open(t, provider)
		r := d.read(t, fmt.Sprintf(body, s.model))
		ways := map[string]func(*testing.T, llm.Request) llm.Response{"whole": d.complete, "streamed": d.stream}
		for way, ask := range ways {
			t.Run(provider+"/"+way, func(t *testing.T) {
				got := ask(t, r)
				calls := got.Message.Calls()
				if len(calls) != 1 || calls[0].Name != "weather" || !strings.Contains(calls[0].Args, `Oslo `) {
					t.Fatalf("reply: want a call of weather, got %+v\n%s", got, d.last().answer.Bytes())
				}
				if got.Stop != llm.StopTool || calls[0].CallID == "" {
					t.Errorf("reply: want a stop for a call with an id, got %v and %q", got.Stop, calls[0].CallID)
				}
				answered(t, d, r, got)
			})
		}
	}
}

// answered sends a call back with its result.
func answered(t *testing.T, d door, r llm.Request, reply llm.Response) {
	t.Helper()
	call := reply.Message.Calls()[0]
	result := llm.ToolResult{CallID: call.CallID, Content: []llm.Part{llm.Text{Text: "Rain, 4 degrees."}}}
	// With the form still demanded there would be another call: the next request is a new one.
	next := llm.Request{Model: r.Model, Tools: []llm.Tool{{Name: "weather", Description: "Tells the weather.", Schema: `{"type":"object","properties":{}}`}}}
	next.MaxOutput = 6
	next.Messages = append(slices.Clone(r.Messages), reply.Message, llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{result}})
	got := d.complete(t, next)
	if got.Usage.Prompt() <= reply.Usage.Prompt()/2 {
		t.Errorf("prompt: want the round counted, got %d", got.Usage.Prompt())
	}
	sent := d.last().request
	if !bytes.Contains(sent, call.Bytes()) {
		t.Errorf("request: want the call as it came, %s, got\n%s", call.Bytes(), sent)
	}
}

// Tools that no model calls are taken by every door, in a request made here.
func TestToolsAreTaken(t *testing.T) {
	s := serverOf(t)
	for _, provider := range doors() {
		t.Run(provider, func(t *testing.T) {
			d := s.open(t, provider)
			plain := request(s.model, "Say hi.")
			plain.MaxOutput = 2
			with := plain
			with.Tools = []llm.Tool{{Name: "look_up", Description: "Looks a word up.", Schema: `{"type":"object","properties":{"word":{"type":"string","description":"The word."}},"required":["word"]}`}}
			a, b := d.complete(t, plain), d.complete(t, with)
			if b.Usage.Prompt() <= a.Usage.Prompt() {
				t.Errorf("prompt: want more than %d with a tool, got %d", a.Usage.Prompt(), b.Usage.Prompt())
			}
		})
	}
}

// A model that thinks tells its thinking in each dialect, and is sent it back.
func TestThinking(t *testing.T) {
	s := serverOf(t)
	if s.thinker == "" {
		t.Skip("PLIMSOLL_OLLAMA_THINKER is not set: no model that thinks")
	}
	for _, provider := range doors() {
		d := s.open(t, provider)
		ways := map[string]func(*testing.T, llm.Request) llm.Response{"whole": d.complete, "streamed": d.stream}
		for way, ask := range ways {
			t.Run(provider+"/"+way, func(t *testing.T) {
				r := request(s.thinker, "What is the capital of France?")
				got := ask(t, r)
				if len(got.Message.Parts) == 0 {
					t.Fatalf("reply: want thinking, got %+v", got)
				}
				thinking, ok := got.Message.Parts[0].(llm.Thinking)
				if !ok || strings.TrimSpace(thinking.Text) == "" {
					t.Fatalf("reply: want thinking first, got %+v", got.Message.Parts)
				}
				r.MaxOutput = 4
				r.Messages = append(slices.Clone(r.Messages), got.Message, says("Go on."))
				d.complete(t, r)
			})
		}
	}
}

// The server gives up on a model that writes one token for ever, and says it nowhere: the stream has no
// end, and of the four dialects only Responses calls the whole reply complete. Where the server does not
// call it so, it must not look like a reply that came to its end.
func TestAbandonedReply(t *testing.T) {
	s := serverOf(t)
	no := strings.Repeat(" no", 50)
	form := fmt.Sprintf(`{"const":%q}`, no) // the grammar leaves the model nothing else
	bodies := map[string]string{
		"ollama": `{"model":%q,"messages":[{"role":"user","content":"no"}],"stream":%t,"options":{"temperature":0,"num_predict":70},"format":` + form + `}`,
		"openai-compatible": `{"model":%q,"messages":[{"role":"user","content":"no"}],"stream":%t,"temperature":0,"max_tokens":70,` +
			`"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":` + form + `}}}`,
		"openai": `{"model":%q,"input":"no","stream":%t,"temperature":0,"max_output_tokens":70,"text":{"format":{"type":"json_schema","name":"x","schema":` + form + `}}}`,
		"anthropic": `{"model":%q,"messages":[{"role":"user","content":"no` + no + `"},{"role":"assistant","content":"no` + no + no + `"},` +
			`{"role":"user","content":"no` + no + `"}],"stream":%t,"temperature":0,"max_tokens":60}`,
	}
	for provider, body := range bodies {
		d := s.open(t, provider)
		t.Run(provider+"/streamed", func(t *testing.T) {
			if _, err := d.listen(d.read(t, fmt.Sprintf(body, s.model, true))); !errors.Is(err, wire.ErrCut) {
				t.Errorf("error: want %v, got %v\n%s", wire.ErrCut, err, d.last().answer.Bytes())
			}
		})
		t.Run(provider+"/whole", func(t *testing.T) {
			r, err := d.Complete(t.Context(), d.read(t, fmt.Sprintf(body, s.model, false)))
			if err == nil && r.Stop != llm.StopUnknown && provider != "openai" || err != nil && !errors.Is(err, wire.ErrCut) {
				t.Errorf("reply: want no stop, or %v, got %v, %v\n%s", wire.ErrCut, r.Stop, err, d.last().answer.Bytes())
			}
		})
	}
}
