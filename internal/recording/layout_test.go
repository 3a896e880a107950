package recording_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/plimsoll-dev/plimsoll/internal/recording"
)

// tree writes files into a new corpus that has all folders.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range []string{
		"http-recordings", "gemini-api", "request-bodies-anthropic", "request-bodies-gemini", "request-bodies-openai-chat", "request-bodies-openai-responses",
	} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// packed returns a text as gzip in base64, in lines as a cassette has them.
func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s := base64.StdEncoding.EncodeToString(b.Bytes())
	return s[:20] + "\n        " + s[20:]
}

// Every layout of the package comment gives the bytes that were on the wire.
func TestLayouts(t *testing.T) {
	claude := `{"type":"message_start","message":{"id":"m"}}`
	tests := map[string]struct {
		file, text string
		want       recording.Exchange
	}{
		"go-vcr cassette": {
			"a.yaml",
			"---\nversion: 2\ninteractions:\n- id: 0\n  request:\n    body: '{\"a\":1}'\n    form:\n      '{\"a\":1}':\n      - \"\"\n    url: https://x.test/v1/messages\n    method: POST\n" +
				"  response:\n    body: |+\n      event: ping\n      data: {}\n\n    headers:\n      Content-Type:\n      - text/event-stream; charset=utf-8\n    status: 200 OK\n    code: 200\n",
			recording.Exchange{
				Dialect: recording.Anthropic, URL: "https://x.test/v1/messages", Path: "/v1/messages", Request: []byte(`{"a":1}`), Status: 200,
				Response: []byte("event: ping\ndata: {}\n\n"), Stream: true,
			},
		},
		"VCR cassette with a compressed body": {
			"a.yaml",
			"interactions:\n- request:\n    body: '{\"a\":\n      1}'\n    uri: https://x.test/v1/responses/compact?beta=1\n" +
				"  response:\n    body:\n      string: !!binary |\n        " + packed(t, `{"object":"x"}`) + "\n    headers:\n      Content-Encoding:\n      - gzip\n    status:\n      code: 400\n      message: no\nversion: 1\n",
			recording.Exchange{
				Dialect: recording.Responses, URL: "https://x.test/v1/responses/compact?beta=1", Path: "/v1/responses/compact", Request: []byte(`{"a": 1}`), Status: 400,
				Response: []byte(`{"object":"x"}`),
			},
		},
		"cassette with parsed bodies": {
			"a.yaml",
			"interactions:\n- request:\n    parsed_body:\n      z: 1.0\n      a: [1, -2.50, true, null, 'yes', \"<\\u00e9>\", 1e5]\n      e: {}\n      l: []\n    uri: https://x.test/v1/chat/completions\n" +
				"  response:\n    parsed_body:\n      s: |-\n        one\n        two\n    status:\n      code: 200\nversion: 1\n",
			recording.Exchange{
				Dialect: recording.Chat, URL: "https://x.test/v1/chat/completions", Path: "/v1/chat/completions",
				Request: []byte(`{"z":1.0,"a":[1,-2.50,true,null,"yes","<é>","1e5"],"e":{},"l":[]}`), Status: 200, Response: []byte(`{"s":"one\ntwo"}`),
			},
		},
		"cassette of a streamed list": {
			"a.yaml",
			"interactions:\n- request:\n    body: null\n    uri: https://x.test/v1beta/models/m:streamGenerateContent\n  response:\n    body:\n      string: '[{}]'\n    status:\n      code: 200\nversion: 1\n",
			recording.Exchange{
				Dialect: recording.Gemini, URL: "https://x.test/v1beta/models/m:streamGenerateContent", Path: "/v1beta/models/m:streamGenerateContent", Status: 200,
				Response: []byte(`[{}]`), Stream: true,
			},
		},
		"replay with base64": {
			"a.json",
			`{"interactions":[{"request":{"url":"https://x.test/v1/chat/completions","content":{"a": 1}},"response":{"status_code":200,"content":{"data":"e30=","encoding":"base64"}}}]}`,
			recording.Exchange{
				Dialect: recording.Chat, URL: "https://x.test/v1/chat/completions", Path: "/v1/chat/completions", Request: []byte(`{"a": 1}`), Status: 200, Response: []byte(`{}`),
			},
		},
		"replay with segments and a placeholder for the host": {
			"a.json",
			`{"interactions":[{"request":{"url":"{HOST}/models/m:generateContent","body_segments":[{"a":1}]},"response":{"status_code":200,"body_segments":[{"b":2}]}}]}`,
			recording.Exchange{
				Dialect: recording.Gemini, URL: "{HOST}/models/m:generateContent", Path: "{HOST}/models/m:generateContent", Request: []byte(`{"a":1}`), Status: 200, Response: []byte(`{"b":2}`),
			},
		},
		"nock": {
			"a.json",
			`[{"scope":"https://x.test","path":"/v1/chat/completions","body":"","status":200,"response":"data: {}\n\n","contentType":"text/event-stream"}]`,
			recording.Exchange{
				Dialect: recording.Chat, URL: "https://x.test/v1/chat/completions", Path: "/v1/chat/completions", Status: 200, Response: []byte("data: {}\n\n"), Stream: true,
			},
		},
		"one reply":                 {"a.json", `{"object":"response","error":null}`, recording.Exchange{Dialect: recording.Responses, Status: 200, Response: []byte(`{"object":"response","error":null}`)}},
		"one error with its status": {"google-a.json", `{"error":{"code":429}}`, recording.Exchange{Dialect: recording.Gemini, Status: 429, Response: []byte(`{"error":{"code":429}}`)}},
		"one error without it":      {"openai-a.json", `{"error":{"code":"x"}}`, recording.Exchange{Dialect: recording.Chat, Status: 400, Response: []byte(`{"error":{"code":"x"}}`)}},
		"a stream as it was":        {"a.sse", "data: {\"choices\":[]}\n\n", recording.Exchange{Dialect: recording.Chat, Status: 200, Response: []byte("data: {\"choices\":[]}\n\n"), Stream: true}},
		"named payloads": {
			"a.chunks.txt", claude + "\n" + `{"type":"ping"}`,
			recording.Exchange{Dialect: recording.Anthropic, Status: 200, Response: []byte("event: message_start\ndata: " + claude + "\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n"), Stream: true},
		},
		"payloads with an end mark": {
			"a.chunks.txt", `{"choices":[]}` + "\n",
			recording.Exchange{Dialect: recording.Chat, Status: 200, Response: []byte("data: {\"choices\":[]}\n\ndata: [DONE]\n\n"), Stream: true},
		},
		"payloads of nothing known": {
			"a.chunks.txt", `{"x":[]}` + "\n", recording.Exchange{Status: 200, Response: []byte("data: {\"x\":[]}\n\n"), Stream: true},
		},
		"a client's replies": {
			"a.responses", `{"method":"generateContentStream","response":[{"a":1},{"b":2}]}` + "\n",
			recording.Exchange{Dialect: recording.Gemini, Status: 200, Response: []byte("data: {\"a\":1}\n\ndata: {\"b\":2}\n\n"), Stream: true},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			file := "http-recordings/" + test.file
			got, err := recording.Load(tree(t, map[string]string{file: test.text}))
			if err != nil {
				t.Fatal(err)
			}
			test.want.Name = file + "#0"
			if diff := cmp.Diff([]recording.Exchange{test.want}, got); diff != "" {
				t.Errorf("exchange differs (-want +got):\n%s", diff)
			}
		})
	}
}

// A file with two streams is two exchanges; a stream that starts twice is one.
func TestStreamsInOneFile(t *testing.T) {
	text := `{"type":"message_start"}` + "\n" + `{"type":"message_start"}` + "\n" + `{"type":"message_stop"}` + "\n" + `{"type":"message_start"}` + "\n"
	got, err := recording.Load(tree(t, map[string]string{"http-recordings/a.chunks.txt": text}))
	if err != nil || len(got) != 2 {
		t.Fatalf("want 2 exchanges, got %d and error %v", len(got), err)
	}
	if n := bytes.Count(got[0].Response, []byte("data:")); n != 3 || got[1].Name != "http-recordings/a.chunks.txt#1" {
		t.Errorf("want 3 payloads in the first and the second to be #1, got %d and %s", n, got[1].Name)
	}
}

// TestBrokenAmongOthers: a file that cannot be read is passed over with a line of its own, and the others are read.
func TestBrokenAmongOthers(t *testing.T) {
	dir := tree(t, map[string]string{
		"http-recordings/a.chunks.txt": `{"type":"message_start"}` + "\n",
		"http-recordings/b.json":       "{",
		"http-recordings/c.yaml":       "interactions: []\n",
		"http-recordings/d.sse":        "data: {\"type\":\"message_start\"}\n\n",
	})
	var lines strings.Builder
	got, err := recording.LoadAll(dir, &lines)
	if err != nil || len(got) != 2 || got[0].Name != "http-recordings/a.chunks.txt#0" || got[1].Name != "http-recordings/d.sse#0" {
		t.Errorf("want the two that can be read, got %d (%v)", len(got), err)
	}
	want := "recording: passed over http-recordings/b.json: unexpected end of JSON input\n" +
		"recording: passed over http-recordings/c.yaml: cassette, want interactions, got none\n"
	if lines.String() != want {
		t.Errorf("want the lines\n%sgot\n%s", want, lines.String())
	}
}

// Where nothing can be read that is an error that names the file.
func TestUnreadable(t *testing.T) {
	for name, text := range map[string]string{
		"a.txt":        "x",
		"b.json":       "{",
		"c.yaml":       "interactions: []\n",
		"d.yaml":       "interactions:\n- request: {}\n  response:\n    code: x\n",
		"e.chunks.txt": "no json\n",
		"f.chunks.txt": "\n",
		"g.responses":  `{"method":"generateContentStream","response":{}}`,
		"h.json":       `{"interactions":[{"response":{"status_code":200,"body_segments":[]}}]}`,
		"i.yaml":       "interactions:\n- request: {}\n  response:\n    parsed_body: .inf\n    code: 200\n",
	} {
		_, err := recording.Load(tree(t, map[string]string{"http-recordings/" + name: text}))
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: want an error that names the file, got %v", name, err)
		}
	}
	if _, err := recording.Load(t.TempDir()); err == nil {
		t.Error("want an error for a folder that is no corpus, got none")
	}
}

func TestBodies(t *testing.T) {
	got, err := recording.Bodies(tree(t, map[string]string{"request-bodies-gemini/a.json": "{}", "request-bodies-openai-chat/b.json": "{ }"}))
	want := []recording.Exchange{
		{Name: "request-bodies-gemini/a.json", Dialect: recording.Gemini, Request: []byte("{}")},
		{Name: "request-bodies-openai-chat/b.json", Dialect: recording.Chat, Request: []byte("{ }")},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("bodies: error %v, difference (-want +got):\n%s", err, diff)
	}
}
