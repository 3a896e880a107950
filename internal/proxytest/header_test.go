package proxytest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/proxy"
)

// headerFailures are those of headers, keys and the size of bodies.
func headerFailures() []scenario {
	return []scenario{
		{"claude-code#21612_bifrost#2048_betas_and_their_fields_go_together", betasStay},
		{"CLIProxyAPI#2866_no_beta_is_added", noBetas},
		{"litellm#37418_litellm#42170_a_login_stays_what_it_is", loginStays},
		{"clawvisor#428_suna#6490_llm-gateway#2126_large_bodies_pass", largeBodies},
	}
}

const editedTask = "window 8000\noutput 500\nreply 12 times when tools\n  call read {\"path\": \"a.txt\"}\nreply always\n  text \"Done.\"\n"

// betasStay: the header and the field that need each other leave together, edited or not.
func betasStay(t *testing.T) {
	model := scripted(t, editedTask)
	p := before(t, model, nil, nil)
	a := testagent.New(p.url, "anthropic", true)
	const field = `{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":100000}}]}`
	a.Header["Anthropic-Beta"] = []string{"fine-grained-tool-streaming-2025-05-14,context-management-2025-06-27", "unheard-of-2031-01-01"}
	a.Change = func(b []byte) []byte {
		return append([]byte(`{"context_management":`+field+`,"unheard_of":[1.50],`), b[1:]...)
	}
	must(t, a.Run(t.Context()))
	for i, call := range model.Log() {
		if !slices.Equal(call.Header["Anthropic-Beta"], a.Header["Anthropic-Beta"]) || gjson.GetBytes(call.Body, "context_management").Raw != field || gjson.GetBytes(call.Body, "unheard_of").Raw != "[1.50]" {
			t.Errorf("call %d: got %q, %.300s", i+1, call.Header["Anthropic-Beta"], call.Body)
		}
	}
	if lines := p.log.Requests(t, 13); lines[12]["edited"] != true {
		t.Error("nothing was edited")
	}
}

// noBetas: a request that is edited brings no beta that its client did not ask for.
func noBetas(t *testing.T) {
	model := scripted(t, editedTask)
	p := before(t, model, nil, nil)
	must(t, testagent.New(p.url, "anthropic", true).Run(t.Context()))
	for i, call := range noFault(t, model) {
		if got, ok := call.Header["Anthropic-Beta"]; ok {
			t.Errorf("call %d: got %q", i+1, got)
		}
	}
	if lines := p.log.Requests(t, 13); lines[12]["edited"] != true {
		t.Error("nothing was edited")
	}
}

// loginStays: the token of a login leaves as it came, whatever keys the proxy itself has.
func loginStays(t *testing.T) {
	m := &mirror{answer: says(object, reply)}
	p := before(t, m, nil, func(o *proxy.Options) { o.Env = func(string) string { return "key-of-the-proxy" } })
	for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens", "/v1/models"} {
		h := http.Header{"Authorization": {"Bearer sk-ant-oat01-login"}, "Anthropic-Beta": {"oauth-2025-04-20"}}
		post(t, p.url+path, h, ask)
		got := m.last(t).header
		if got.Get("Authorization") != "Bearer sk-ant-oat01-login" || got.Get("X-Api-Key") != "" || got.Get("Anthropic-Beta") != "oauth-2025-04-20" || strings.Contains(fmt.Sprint(got), "of-the-proxy") {
			t.Errorf("%s: got %v", path, got)
		}
	}
}

// largeBodies: a turn with forty screenshots, 28 MB of them, leaves byte for byte.
func largeBodies(t *testing.T) {
	image := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + strings.Repeat("iVBORw0KGgo", 65_000) + `"}}`
	body := `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":[` + strings.Repeat(image+",", 39) + image + `]}]}`
	m := &mirror{answer: says(object, reply)}
	p := before(t, m, wide, nil)
	for range 2 {
		if status, _, got := post(t, p.url+"/v1/messages", nil, body); status != 200 || got != reply || string(m.last(t).body) != body {
			t.Errorf("%d bytes: got %d %.200s, %d bytes left", len(body), status, got, len(m.last(t).body))
		}
	}
}
