package sdktest

import (
	"context"
	"strings"
	"testing"

	sdk "google.golang.org/genai"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
)

// TestGeminiCallsWithoutIDs: the Gemini API itself gives calls no ids. The ones that the
// codec makes up are the same in the reply and in the request that the SDK makes of it,
// though the SDK writes arguments and signatures in its own spelling.
func TestGeminiCallsWithoutIDs(t *testing.T) {
	const signature = `"thoughtSignature":"c2VhbCDDv8O+Pz8/"`
	for _, c := range []struct{ name, parts string }{
		{"with a signature", `{"functionCall":{"name":"read_file","args":{"path":"a","limit":1}},` + signature + `}`},
		{"without a signature", `{"functionCall":{"name":"read_file","args":{"path":"a"}}}`},
		{"arguments not sorted", `{"functionCall":{"name":"read_file","args":{"path":"a","limit":1}}}`},
		{"arguments with white space", `{"functionCall":{"name":"read_file","args":{"path": "a"}}}`},
		{"arguments with escapes", `{"functionCall":{"name":"read_file","args":{"path":"<\u00e9>"}}}`},
		{"parallel", `{"functionCall":{"name":"read_file","args":{"path":"a"}},` + signature + `},{"functionCall":{"name":"read_file","args":{"path":"b"}}}`},
		{"no arguments", `{"functionCall":{"name":"list_files","args":{}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := `{"candidates":[{"content":{"role":"model","parts":[` + c.parts + `]},"finishReason":"STOP","index":0}],` +
				`"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2},"modelVersion":"test-model-1","responseId":"r"}`
			p := &provider{t: t, codec: gemini.Codec{}, body: []byte(body)}
			chat, err := geminiClient(t, p.start()).Chats.Create(context.Background(), "test-model-1", nil, nil)
			if err != nil {
				t.Fatalf("chat: %v", err)
			}
			r, err := chat.SendMessage(context.Background(), sdk.Part{Text: "Go on."})
			if err != nil {
				t.Fatalf("send: %v", err)
			}
			if _, err := chat.SendMessage(context.Background(), geminiResults(r.FunctionCalls())...); err != nil {
				t.Fatalf("send: %v", err)
			}
			reply, err := p.codec.DecodeResponse([]byte(body))
			if err != nil {
				t.Fatalf("decode response: %v", err)
			}
			sameIDs(t, p, reply)
		})
	}
}

// TestGeminiSignatureAlphabet: the Python SDK writes signatures in the other alphabet of
// base64 (RFC 4648 section 5), which changes nothing about the ids.
func TestGeminiSignatureAlphabet(t *testing.T) {
	const call = `[{"functionCall":{"name":"read_file","args":{"path":"a"}},"thoughtSignature":"c2VhbCDDv8O+Pz8/"}]`
	reply, err := gemini.Codec{}.DecodeResponse([]byte(`{"candidates":[{"content":{"role":"model","parts":` + call + `},"finishReason":"STOP"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	spelled := strings.ReplaceAll(strings.ReplaceAll(call, "O+Pz8/", "O-Pz8_"), `"args":{"path":"a"}`, `"args": {"path": "a"}`)
	back, err := gemini.Codec{}.DecodeRequest([]byte(`{"contents":[{"role":"user","parts":[{"text":"Go on."}]},{"role":"model","parts":` + spelled + `}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want, got := reply.Message.Calls()[0].CallID, back.Messages[1].Calls()[0].CallID
	if want != got {
		t.Errorf("id of the call in the request, want that of the reply, %s, got %s", want, got)
	}
}

// sameIDs compares the calls of a reply with those of the request after it, and its results.
func sameIDs(t *testing.T, p *provider, reply llm.Response) {
	t.Helper()
	body := p.calls()[1].body
	back, err := p.codec.DecodeRequest(body)
	if err != nil {
		t.Fatalf("decode request: %v", err)
	}
	calls := back.Messages[1].Calls()
	results := back.Messages[2].Results()
	for i, c := range reply.Message.Calls() {
		if calls[i].CallID != c.CallID {
			t.Errorf("id of call %d in the request, want that of the reply, %s, got %s\n%s", i, c.CallID, calls[i].CallID, body)
		}
		if results[i].CallID != calls[i].CallID {
			t.Errorf("id of result %d, want that of its call, %s, got %s\n%s", i, calls[i].CallID, results[i].CallID, body)
		}
	}
}
