package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/ground"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/proxy"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// leastSent is how many tokens a conversation has at least that is sent through the proxy here.
const leastSent = 20_000

// mostSteps is how many calls one makes at most: each is sent whole, so that longer ones take long.
const mostSteps = 130

// farFromReplay is how far what the proxy keeps and costs may be from what a replay says of the same
// sessions: points of what is visible, and of the client's cost. The proxy knows no tokenizer of the
// model here, so that its bound leaves some of the window free.
const (
	farFromReplay     = 2
	farFromReplayCost = .03
)

// TestRecordedClients: sessions of the corpus, sent Step by Step as their clients would send them,
// keep and cost through the proxy what a replay says of them. docs/benchmarks.md has the rows.
func TestRecordedClients(t *testing.T) {
	root := os.Getenv("PLIMSOLL_CORPUS")
	if root == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: no sessions to send")
	}
	var rows []string
	const percent = 50
	for _, format := range []string{"claude-code", "codex"} {
		files, err := filepath.Glob(filepath.Join(root, format, "*", "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		var replayed, sent scored
		segments := 0
		for _, file := range files {
			for _, c := range recordedClients(t, file, percent) {
				segments++
				replayed.add(c.score(t, c.edited))
				sent.add(c.score(t, c.through(t)))
			}
		}
		row := fmt.Sprintf("| %d%% | %s | %d | %d | %s | %s |", percent, format, segments, replayed.steps, replayed.cells(), sent.cells())
		t.Log(row)
		rows = append(rows, row)
		if a, b := replayed.share(), sent.share(); segments == 0 || a-b > farFromReplay {
			t.Errorf("%s at %d%%: a replay keeps %.1f %%, the proxy %.1f %%", format, percent, a, b)
		}
		if a, b := replayed.cost(), sent.cost(); b-a > farFromReplayCost {
			t.Errorf("%s at %d%%: by a replay %.2f of the client's cost, through the proxy %.2f", format, percent, a, b)
		}
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if !strings.Contains(string(page), row+"\n") {
			t.Errorf("docs/benchmarks.md does not have the row %s", row)
		}
	}
}

// A recordedClient is a segment of a session as its client sends it: its requests, and those that
// a replay makes of them. A request that could not be made is nil.
type recordedClient struct {
	name     string
	dialect  llm.Dialect
	limit    int
	raw      [][]byte
	edited   [][]byte
	messages []llm.Message // of the last request
	ends     []int         // messages of each request
	needs    [][]ground.Span
}

// recordedClients exports the long segments of a session, as sent by the client and by balanced.
func recordedClients(t *testing.T, file string, percent int) (out []recordedClient) {
	t.Helper()
	s, err := formats.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run := func(name string, percent int) map[int]replay.Run {
		p, err := policy.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := replay.New(replay.Options{Policies: []policy.Policy{p}, Windows: []replay.WindowSpec{{Percent: percent}}, Base: replay.BaseMessages, Out: dir})
		if err != nil {
			t.Fatal(err)
		}
		runs := map[int]replay.Run{}
		err = r.Session(context.Background(), s, func(res replay.Result) error {
			if len(res.Runs) == 1 && res.Steps >= 12 && res.Steps <= mostSteps {
				runs[res.Segment] = res.Runs[0]
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return runs
	}
	whole, cut := run("off", 100), run("balanced", percent)
	for n, off := range whole {
		balanced, ok := cut[n]
		if !ok || off.Limit < leastSent {
			continue
		}
		folder := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		if n > 1 {
			folder += fmt.Sprintf(".%d", n)
		}
		c := recordedClient{name: fmt.Sprintf("%s/%d/%d", file, n, percent), limit: balanced.Limit}
		c.dialect = s.Dialect
		c.raw = exported(t, filepath.Join(dir, folder, "off", "100%"), off.Steps)
		c.edited = exported(t, filepath.Join(dir, folder, "balanced", fmt.Sprintf("%d%%", percent)), off.Steps)
		for _, body := range c.raw {
			c.messages = c.decoded(t, body).Messages
			c.ends = append(c.ends, len(c.messages))
		}
		c.needed()
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b recordedClient) int { return strings.Compare(a.name, b.name) })
	return out
}

func exported(t *testing.T, dir string, steps int) [][]byte {
	t.Helper()
	out := make([][]byte, steps)
	for i := range out {
		body, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("step-%04d.json", i+1)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		out[i] = body
	}
	return out
}

func (c *recordedClient) decoded(t *testing.T, body []byte) llm.Request {
	t.Helper()
	codec, _ := codecs.For(c.dialect)
	r, err := codec.DecodeRequest(body)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	return r
}

// through sends the client's requests through a proxy, before a provider that answers each with the
// recorded reply and reports a quarter of the characters, and returns what that provider got.
func (c *recordedClient) through(t *testing.T) [][]byte {
	t.Helper()
	codec, _ := codecs.For(c.dialect)
	out := make([][]byte, len(c.raw))
	at := 0
	m := &mirror{}
	m.answer = func(w http.ResponseWriter) {
		body := m.last(t).body
		out[at] = body
		answer, err := codec.EncodeResponse(llm.Response{
			Model: "scripted-model", Message: c.reply(at), Stop: llm.StopEnd, Usage: llm.Usage{Input: sizeOf(t, c.decoded(t, body).Messages), Output: 1},
		})
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}
	p := start(t, behind(t, m.ServeHTTP), func(o *proxy.Options) {
		var err error
		o.Gateway, err = gateway.New(gateway.Options{Log: o.Log, Window: func(string, string) budget.Window {
			return budget.Window{Capacity: c.limit, Buffer: budget.None, OutputReserve: budget.None}
		}})
		if err != nil {
			t.Fatal(err)
		}
	})
	for at = range c.raw {
		resp, got := ask(t, "POST", p.url+testagent.Path(c.dialect, "scripted-model", false), http.Header{"X-Plimsoll-Session": {c.name}}, c.raw[at])
		if resp.StatusCode != http.StatusOK {
			t.Logf("%s, step %d: %d %.200s", c.name, at+1, resp.StatusCode, got)
			out[at] = nil
		}
	}
	p.close()
	return out
}

// reply returns what the model answered to the request of Step i.
func (c *recordedClient) reply(i int) llm.Message {
	m := llm.AssistantText("done")
	if i+1 >= len(c.ends) {
		return m
	}
	var parts []llm.Part
	for _, said := range c.messages[c.ends[i]:c.ends[i+1]] {
		if said.Role != llm.RoleAssistant {
			break
		}
		parts = append(parts, said.Parts...)
	}
	if len(parts) > 0 {
		m.Parts = parts
	}
	return m
}

func sizeOf(t *testing.T, messages []llm.Message) (n int) {
	t.Helper()
	counter, err := token.NewCounter("chars/4", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		n += token.SizeOf(counter, m).All()
	}
	return n
}

// A scored is what requests keep and cost.
type scored struct {
	steps, refused               int
	spans, visible, lines, shown int
	raw, sent                    int64 // thousandths of an input token
}

func (s *scored) add(o scored) {
	s.steps, s.refused = s.steps+o.steps, s.refused+o.refused
	s.spans, s.visible, s.lines, s.shown = s.spans+o.spans, s.visible+o.visible, s.lines+o.lines, s.shown+o.shown
	s.raw, s.sent = s.raw+o.raw, s.sent+o.sent
}

func (s *scored) share() float64 { return 100 * float64(s.visible) / float64(max(s.spans, 1)) }
func (s *scored) cost() float64  { return float64(s.sent) / float64(max(s.raw, 1)) }

func (s *scored) cells() string {
	return fmt.Sprintf("%.1f | %.1f | %.2f | %d", s.share(), 100*float64(s.shown)/float64(max(s.lines, 1)), s.cost(), s.refused)
}

// score says what of what the client's calls refer to some requests say, and what they cost.
func (c *recordedClient) score(t *testing.T, bodies [][]byte) scored {
	t.Helper()
	out := scored{steps: len(bodies)}
	texts := map[string]ground.Text{}
	sizes := map[string]int{}
	all := weigh(t, c.messages, sizes)
	var before, rawBefore []weighed
	for i, body := range bodies {
		if body == nil {
			out.refused++
			continue
		}
		req := c.decoded(t, body)
		now, raw := weigh(t, req.Messages, sizes), all[:c.ends[i]]
		out.sent, out.raw = out.sent+paid(before, now), out.raw+paid(rawBefore, raw)
		before, rawBefore = now, raw
		if len(c.needs[i]) == 0 {
			continue
		}
		var shown ground.Texts
		for _, m := range req.Messages {
			for _, p := range m.Parts {
				key := said(p)
				if _, ok := texts[key]; !ok {
					texts[key] = ground.TextOf(p)
				}
				shown.Add(texts[key])
			}
		}
		for _, sec := range req.Sections {
			shown.Add(ground.TextOfString(sec.Text))
		}
		out.book(c.needs[i], &shown)
	}
	return out
}

// book looks for what the calls behind Step i refer to.
func (s *scored) book(needs []ground.Span, shown *ground.Texts) {
	for _, n := range needs {
		ok := shown.Says(n)
		s.spans++
		if ok {
			s.visible++
		}
		if n.Kind == ground.Line {
			s.lines++
			if ok {
				s.shown++
			}
		}
	}
}

// needed finds what the calls of each Step refer to.
func (c *recordedClient) needed() {
	var index ground.Index
	c.needs = make([][]ground.Span, len(c.ends))
	step := -1
	for i, m := range c.messages {
		for step+1 < len(c.ends) && c.ends[step+1] <= i {
			step++
		}
		m.ID = llm.MessageID(i + 1)
		index.Add(m)
		if step < 0 || m.Role != llm.RoleAssistant {
			continue
		}
		for _, call := range m.Calls() {
			for _, s := range ground.Spans(call) {
				if _, ok := index.Last(s); ok && !slices.ContainsFunc(c.needs[step], func(o ground.Span) bool { return o.Text == s.Text }) {
					c.needs[step] = append(c.needs[step], s)
				}
			}
		}
	}
}

// A weighed message is one with its size.
type weighed struct {
	says string
	size int
}

// said is what a part says, so that two that say the same are known for it.
func said(p llm.Part) string {
	switch p := p.(type) {
	case llm.Text:
		return p.Text
	case llm.ToolCall:
		return p.Name + "\x00" + p.Args
	case llm.ToolResult:
		return p.CallID + "\x00" + p.Text()
	}
	return fmt.Sprintf("%T", p)
}

// weigh returns messages with their sizes; sizes remembers them.
func weigh(t *testing.T, messages []llm.Message, sizes map[string]int) (out []weighed) {
	t.Helper()
	for _, m := range messages {
		text := string(m.Role)
		for _, p := range m.Parts {
			text += "\x00" + said(p)
		}
		n, ok := sizes[text]
		if !ok {
			n = sizeOf(t, []llm.Message{m})
			sizes[text] = n
		}
		out = append(out, weighed{text, n})
	}
	return out
}

// paid is what a request costs behind another one: a tenth for what it begins with alike, 1.25
// for the rest.
func paid(before, now []weighed) (cost int64) {
	same := true
	for i, m := range now {
		same = same && i < len(before) && before[i].says == m.says
		if same {
			cost += int64(m.size) * 100
		} else {
			cost += int64(m.size) * 1250
		}
	}
	return cost
}
