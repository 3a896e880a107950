package proxy_test

import (
	"bytes"
	"net/http"
	"os"
	"path"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/recording"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/proxy"
)

// TestInvisible: where nothing is due, every request body of the corpus arrives with its
// bytes, and every recorded answer comes back with its own, packed in any way.
func TestInvisible(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_CORPUS")
	if dir == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: no request bodies and recordings")
	}
	all, err := recording.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	bodies, err := recording.Bodies(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bodies {
		all = append(all, recording.Exchange{Name: b.Name, Dialect: b.Dialect, Request: b.Request, Status: 200, Response: []byte("{}")})
	}
	var now recording.Exchange
	coding := ""
	m := &mirror{answer: func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		if now.Stream {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		if coding != "" {
			w.Header().Set("Content-Encoding", coding)
		}
		w.WriteHeader(now.Status)
		_, _ = w.Write(pack(t, coding, now.Response))
	}}
	p := start(t, behind(t, m.ServeHTTP), func(o *proxy.Options) {
		o.Gateway, err = gateway.New(gateway.Options{Log: o.Log, Window: func(string, string) budget.Window { return budget.Window{Capacity: 50_000_000} }})
		if err != nil {
			t.Fatal(err)
		}
	})
	asked, streams := map[llm.Dialect]int{}, 0
	for i, e := range all {
		uri := testagent.Path(e.Dialect, "scripted-model", false)
		if uri == "" || e.Status < 200 {
			continue
		}
		if e.Request == nil {
			e.Request = []byte(question)
		}
		if e.Dialect == "gemini" && path.Base(e.Path) != "." && e.Path != "" {
			uri = "/v1beta/models/" + path.Base(e.Path)
		}
		now, coding = e, append([]string{""}, codings...)[i%5]
		header := http.Header{"X-Plimsoll-Session": {e.Name}}
		if coding != "" {
			header.Set("Content-Encoding", coding)
		}
		request := pack(t, coding, e.Request)
		resp, got := ask(t, "POST", p.url+uri, header, request)
		if resp.StatusCode != e.Status || !bytes.Equal(got, pack(t, coding, e.Response)) {
			t.Errorf("%s: the answer was changed: %d %.200q", e.Name, resp.StatusCode, got)
		}
		if !bytes.Equal(m.last(t).body, request) {
			t.Errorf("%s: the request was changed", e.Name)
		}
		asked[e.Dialect]++
		if e.Stream {
			streams++
		}
	}
	t.Logf("%v requests, %d of them streamed", asked, streams)
	if len(asked) < 4 || streams < 10 {
		t.Errorf("got %v and %d streams, want all dialects and some streams", asked, streams)
	}
}
