package transport_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
	"github.com/plimsoll-dev/plimsoll/transport"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
)

// mostRecorded bounds the requests of a recorded segment, and mostBytes the size of one,
// so that the whole stays within minutes.
const (
	mostRecorded = 60
	mostBytes    = 1 << 20
)

// TestMoneyOnCorpus: recorded sessions are driven Step by Step, directly and through the
// transport, and a server with a prefix cache charges both. Where nothing was edited the
// two pay the same, to the token of every kind; the others are listed.
func TestMoneyOnCorpus(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_CORPUS")
	if dir == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: no sessions to drive")
	}
	files, err := formats.Find([]string{filepath.Join(dir, "claude-code"), filepath.Join(dir, "codex"), filepath.Join(dir, "pi"), filepath.Join(dir, "gemini-cli")})
	must(t, err)
	same, edited, calls := 0, 0, 0
	for _, file := range files {
		s, err := formats.Open(file)
		if err != nil {
			continue // what cannot be read is another test's matter
		}
		for n, segment := range s.Segments {
			direct, through := drive(t, segment)
			if direct.calls == 0 {
				continue
			}
			calls += direct.calls
			name := fmt.Sprintf("%s segment %d", filepath.Base(file), n)
			switch {
			case through.edited > 0:
				edited++
				t.Logf("%s: %d calls, %d edited: %v directly, %v through", name, direct.calls, through.edited, direct.cost, through.cost)
			case direct.usage != through.usage || direct.cost != through.cost:
				t.Errorf("%s: %d calls, none edited: %v %+v directly, %v %+v through", name, direct.calls, direct.cost, direct.usage, through.cost, through.usage)
			default:
				same++
			}
		}
	}
	t.Logf("%d calls: %d segments paid the same, %d were edited", calls, same, edited)
	if same == 0 {
		t.Error("no segment passed unedited")
	}
}

// Driven is what a segment came to.
type driven struct {
	calls, edited int
	usage         llm.Usage
	cost          catalog.Money
}

// drive makes the requests of a segment, in the Chat dialect, whose servers cache by
// themselves.
func drive(t *testing.T, segment sessionfile.Segment) (direct, through driven) {
	t.Helper()
	known, err := catalog.Load()
	must(t, err)
	const dialect = "openai-chat"
	d, _ := known.Dialect(dialect)
	codec, _ := codecs.For(dialect)
	var msgs []llm.Message
	var bodies [][]byte
	for _, e := range segment.Entries {
		if e.Step != nil && len(msgs) > 0 && len(bodies) < mostRecorded {
			r := llm.Request{Model: "gpt-5", Sections: segment.Sections, Tools: segment.Tools, Messages: msgs}
			body, err := codec.EncodeRequest(convert.Request(r, d, convert.Options{Foreign: true}).Request)
			must(t, err)
			if len(body) > mostBytes {
				break
			}
			bodies = append(bodies, body)
		}
		msgs = append(msgs, e.Message)
	}
	run := func(out *driven, carrier http.RoundTripper) {
		server, url := scripted(t, "cache min 1024\nreply always\n  text \"ok\"\n")
		for _, body := range bodies {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/chat/completions", bytes.NewReader(body))
			must(t, err)
			resp, err := carrier.RoundTrip(req)
			must(t, err)
			_, err = io.Copy(io.Discard, resp.Body)
			must(t, err)
			must(t, resp.Body.Close())
		}
		charged(out, known, server.Log())
	}
	g, err := gateway.New(gateway.Options{})
	must(t, err)
	tr := transport.New(g)
	tr.Done = func(_ *http.Request, r gateway.Report) {
		if r.Edited {
			through.edited++
		}
	}
	run(&direct, http.DefaultTransport)
	run(&through, tr)
	return direct, through
}

// charged adds up what a server took.
func charged(out *driven, known catalog.Catalog, log []scriptmodel.Call) {
	model, _ := known.Lookup("gpt-5")
	out.cost = catalog.Dollars(0)
	for _, c := range log {
		if c.Error != nil {
			continue
		}
		out.calls++
		out.usage = out.usage.Add(c.Reply.Usage)
		if p, ok := model.PricesAt(c.Reply.Usage.Prompt()); ok {
			pico, known := p.Cost(c.Reply.Usage)
			out.cost = out.cost.Add(catalog.Money{Pico: pico, Known: known})
		}
	}
}
