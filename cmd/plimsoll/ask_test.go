package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/config"
)

// TestAskScripts runs the scripts in testdata/ask: plimsoll ask against a server on this
// machine, whose address is in $SERVER. The name of the model says how it answers; see
// answerAsk.
func TestAskScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "ask"),
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			server := httptest.NewServer(http.HandlerFunc(answerAsk))
			e.Defer(server.Close)
			e.Setenv("SERVER", server.URL)
			if err := os.WriteFile(filepath.Join(e.WorkDir, "picture.bin"), []byte("\x89PNG\r\n\x1a\n\x00\x00"), 0o600); err != nil {
				return err
			}
			e.Setenv("NO_COLOR", "1")
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "home", "settings"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "lines": countLines, "pretty": pretty, "jsonlines": jsonLines, "clean": clean,
		},
	})
}

// answerAsk answers as the providers do, by the name of the model:
//
//	echo     the head and body of the request in short, as a text
//	long     a text that the output limit cut
//	refusal  a text behind which the model refused
//	silent   no text
//	one      one token in and one out
//	summary  what a loop has done
//	page     the page of a login
//	slow     nothing for as long as it is waited for
//	hostile  a text that a terminal would obey
//	cut      a stream that breaks off
//	an HTTP status: an error with it
func answerAsk(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Model     string          `json:"model"`
		Stream    bool            `json:"stream"`
		MaxTokens int             `json:"max_tokens"`
		System    json.RawMessage `json:"system"`
		Messages  json.RawMessage `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	text, stop := "Salve.\nVale.", "end_turn"
	switch body.Model {
	case "echo":
		text = fmt.Sprintf("%s key=%s%s team=%s stream=%v max=%d system=%s messages=%s", r.URL.RequestURI(), r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"),
			r.Header.Get("X-Team"), body.Stream, body.MaxTokens, body.System, body.Messages)
	case "long":
		stop = "max_tokens"
	case "refusal":
		stop = "refusal"
	case "summary":
		text = "All steps so far were done by the script."
	case "page":
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<html>Sign in to the network</html>")
		return
	case "slow":
		<-r.Context().Done()
		return
	case "silent":
		text = ""
	case "hostile":
		text = "red \x1b[31m\u202e\ttab\nnext"
	case "400", "401", "404", "429":
		refuseAsk(w, body.Model)
		return
	}
	if r.URL.Path == "/v1/chat/completions" {
		chatAsk(w, body.Model, text)
		return
	}
	if !body.Stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":"msg_1","type":"message","role":"assistant","model":%q,"content":[{"type":"text","text":%s}],"stop_reason":%q,"stop_sequence":null,`+
			`"usage":{"input_tokens":1012,"cache_creation_input_tokens":0,"cache_read_input_tokens":1000,"output_tokens":3}}`, body.Model, quoted(text), stop)
		return
	}
	streamAsk(w, body.Model, text, stop)
}

func quoted(text string) []byte {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return b
}

func streamAsk(w http.ResponseWriter, model, text, stop string) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(name, format string, args ...any) {
		_, _ = fmt.Fprintf(w, "event: %s\ndata: {\"type\":%q,%s}\n\n", name, name, fmt.Sprintf(format, args...))
	}
	send("message_start", `"message":{"id":"msg_1","type":"message","role":"assistant","model":%q,"content":[],"stop_reason":null,"stop_sequence":null,`+
		`"usage":{"input_tokens":1012,"cache_creation_input_tokens":0,"cache_read_input_tokens":1000,"output_tokens":1}}`, model)
	send("content_block_start", `"index":0,"content_block":{"type":"thinking","thinking":"","signature":""}`)
	send("content_block_delta", `"index":0,"delta":{"type":"thinking_delta","thinking":"They want Latin."}`)
	send("content_block_delta", `"index":0,"delta":{"type":"signature_delta","signature":"c2ln"}`)
	send("content_block_stop", `"index":0`)
	send("content_block_start", `"index":1,"content_block":{"type":"text","text":""}`)
	for _, piece := range strings.SplitAfter(text, "\n") {
		send("content_block_delta", `"index":1,"delta":{"type":"text_delta","text":%s}`, quoted(piece))
	}
	if model == "cut" {
		return
	}
	send("content_block_stop", `"index":1`)
	send("message_delta", `"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":3}`, stop)
	_, _ = fmt.Fprint(w, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
}

func chatAsk(w http.ResponseWriter, model, text string) {
	usage := ""
	if model == "one" {
		usage = `,"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}`
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":"stop"}]%s}`,
		quoted(text), usage)
}

func refuseAsk(w http.ResponseWriter, status string) {
	w.Header().Set("Content-Type", "application/json")
	if status == "429" {
		w.Header().Set("Retry-After", "3600")
	}
	refusals := map[string]struct {
		status int
		body   string
	}{
		"400": {400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`},
		"401": {401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`},
		"404": {404, `{"type":"error","error":{"type":"not_found_error","message":"model: claude-hiku-4-5"}}`},
		"429": {429, `{"type":"error","error":{"type":"rate_limit_error","message":"Too many requests"}}`},
	}
	w.WriteHeader(refusals[status].status)
	_, _ = fmt.Fprint(w, refusals[status].body)
}

// Without a model's name there must be exactly one that can be meant.
func TestOnlyModel(t *testing.T) {
	for _, c := range []struct {
		keys     string
		settings config.Settings
		want     string // empty: an error
	}{
		{keys: "ANTHROPIC_API_KEY", want: "anthropic/claude-haiku-4-5"},
		{keys: "ANTHROPIC_AUTH_TOKEN ANTHROPIC_API_KEY", want: "anthropic/claude-haiku-4-5"},
		{keys: "OPENAI_API_KEY", want: "openai/gpt-5-mini"},
		{keys: "GOOGLE_API_KEY", want: "gemini/gemini-2.5-flash"},
		{keys: "OPENROUTER_API_KEY", want: "openrouter/openrouter/auto"},
		{keys: "AZURE_OPENAI_API_KEY"}, // the deployments have names of one's own
		{keys: "ANTHROPIC_API_KEY OPENAI_API_KEY"},
		{keys: ""},
		{keys: "OPENAI_API_KEY", settings: config.Settings{Providers: []config.ProviderSettings{{Name: "work", Kind: "openai", Models: []string{"m-1", "m-2"}}}}, want: "work/m-1"},
	} {
		env := func(name string) string {
			if strings.Contains(" "+c.keys+" ", " "+name+" ") {
				return "key"
			}
			return ""
		}
		got, err := onlyModel(c.settings, env)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: got %q, %v, want %q", c.keys, got, err, c.want)
		}
	}
}

// docs/providers.md names every provider and every environment variable, and its files can
// be read.
func TestDocProviders(t *testing.T) {
	text := read(t, filepath.Join(repo, "docs", "providers.md"))
	for _, name := range client.Names() {
		p, _ := client.Lookup(name)
		words := append([]string{name}, p.BaseEnv...)
		for _, c := range p.Credentials {
			words = append(words, c.Env)
		}
		for _, list := range p.QueryEnv {
			words = append(words, list...)
		}
		if p.Model != "" {
			words = append(words, p.Model)
		}
		if p.BaseURL != "" {
			words = append(words, p.BaseURL)
		}
		for _, word := range words {
			if !strings.Contains(text, "`"+word+"`") {
				t.Errorf("%s: %s is not in the table", name, word)
			}
		}
	}
	found := 0
	for _, language := range []string{"yaml", "toml"} {
		eachBlock(text, language, func(block string) string {
			found++
			known := config.Known{Kinds: client.Names(), CarriesKey: client.CarriesKey}
			s, err := config.ParseSettings("plimsoll."+language, []byte(block), known)
			if err != nil {
				t.Errorf("%s:\n%s\n%v", language, block, err)
			}
			for _, set := range s.Providers {
				p, _ := providerNamed(s, set.Name)
				if _, err := client.New(p, client.Options{}); err != nil {
					t.Errorf("%s: %v", set.Name, err)
				}
			}
			return block
		})
	}
	if found < 2 {
		t.Errorf("want both forms, found %d blocks", found)
	}
}
