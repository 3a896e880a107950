package proxy_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/internal/recording"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/proxy"
)

// What is recorded can be read as other recordings can, holds both bodies unpacked, and no
// key, cookie or account in any form.
func TestRecord(t *testing.T) {
	const reply = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"note\":\"your key k-zyxwvutsrqpon\"}}\n\n"
	dir := t.TempDir()
	m := &mirror{answer: func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Set-Cookie", "c=cookie-of-ann")
		w.Header().Set("Anthropic-Organization-Id", "org-of-ann")
		_, _ = w.Write(pack(t, "gzip", []byte(reply)))
	}}
	p := start(t, behind(t, m.ServeHTTP), func(o *proxy.Options) { o.Record = filepath.Join(dir, "http-recordings") })
	body := `{"model":"m","max_tokens":5,"metadata":{"user_id":"{\"device_id\":\"0123456789abcdef\",\"account_uuid\":\"01234567-89ab-cdef\",\"session_id\":\"s-1\"}"},"messages":[{"role":"user","name":"user_0123456789abcdef0123_account_01234567-89ab-cdef_session_s-2","content":"it is k-zyxwvutsrqpon"}]}`
	header := http.Header{"X-Api-Key": {"k-zyxwvutsrqpon"}, "Cookie": {"c=cookie-of-ann"}, "Content-Encoding": {"zstd"}, "X-Kept": {"yes"}}
	ask(t, "POST", p.url+"/v1/messages?key=k-zyxwvutsrqpon", header, pack(t, "zstd", []byte(body)))
	ask(t, "POST", p.url+"/v1/messages/count_tokens", nil, []byte("{}"))
	p.log.Requests(t, 2)
	p.close() // the file is written when the line is
	files, err := filepath.Glob(filepath.Join(dir, "http-recordings", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"k-zyxwvutsrqpon", "cookie-of-ann", "org-of-ann", "0123456789abcdef", "01234567-89ab-cdef"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s is in the file:\n%s", secret, text)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "gemini-api"), 0o700); err != nil { // which the corpus has, too
		t.Fatal(err)
	}
	all, err := recording.Load(dir)
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	e := all[0]
	if e.Path != "/v1/messages" || !e.Stream || e.Dialect != recording.Anthropic || !gjson.ValidBytes(e.Request) ||
		gjson.GetBytes(e.Request, "messages.0.content").String() != "it is [secret]" || !strings.HasPrefix(string(e.Response), "event: message_start\n") {
		t.Errorf("got %+v\n%s\n%s", e, e.Request, e.Response)
	}
	if got := gjson.GetBytes(text, "0.reqheaders.X-Kept.0").String(); got != "yes" {
		t.Errorf("another header: got %q", got)
	}
	if got := gjson.GetBytes(e.Request, "messages.0.name").String(); got != "user_[secret]_session_s-2" {
		t.Errorf("the older form of a user: got %q", got)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// A request that left shorter is recorded in both forms.
func TestRecordSent(t *testing.T) {
	dir := t.TempDir()
	_, url := scripted(t, script)
	p := start(t, url, func(o *proxy.Options) { o.Record = dir })
	if err := testagent.New(p.url, "openai-chat", true).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.close()
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if len(files) != 21 {
		t.Fatalf("%d files", len(files))
	}
	text, err := os.ReadFile(files[20])
	if err != nil {
		t.Fatal(err)
	}
	body, sent := gjson.GetBytes(text, "0.body").String(), gjson.GetBytes(text, "0.plimsoll.sent").String()
	if len(sent) == 0 || len(sent) >= len(body) || !gjson.Valid(sent) {
		t.Errorf("the client sent %d bytes, %d left", len(body), len(sent))
	}
}

// A folder that cannot be written to costs the recording, and no request.
func TestRecordFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "records")
	p := start(t, behind(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }), func(o *proxy.Options) { o.Record = dir })
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if resp, _ := ask(t, "POST", p.url+"/v1/messages", nil, []byte(question)); resp.StatusCode != 200 {
		t.Errorf("got %d", resp.StatusCode)
	}
	p.close()
	if !strings.Contains(p.log.String(), "an exchange was not recorded") {
		t.Error("the log does not say so")
	}
}
