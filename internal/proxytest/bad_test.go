package proxytest

import (
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "modernc.org/sqlite" // another process, as far as the file can tell

	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/proxy"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

const (
	ask     = `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"x"}]}`
	askMore = `{"model":"m","max_tokens":5,"stream":true,"messages":[{"role":"user","content":"x"}]}`
	reply   = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":7,"output_tokens":3}}`
)

// Of a member that stands twice in a body the last one counts, as it does for providers: a
// long history cannot hide behind a short one.
func TestMessagesTwice(t *testing.T) {
	const body = `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":%q}],"messages":[{"role":"user","content":%q}]}`
	long := strings.Repeat("all of it ", 10_000)
	m := &mirror{answer: says(object, reply)}
	p := before(t, m, nil, nil)
	status, _, answer := post(t, p.url+"/v1/messages", nil, fmt.Sprintf(body, "x", long))
	if sent := string(m.last(t).body); status != 200 || len(sent) > len(long)/2 || !strings.Contains(sent, "all of it") {
		t.Errorf("a long one behind a short one, which is to leave shortened: got %d %s, sent %d bytes", status, answer, len(sent))
	}
	first := fmt.Sprintf(body, long, "x")
	if status, _, _ := post(t, p.url+"/v1/messages", nil, first); status != 200 || string(m.last(t).body) != first {
		t.Errorf("a short one behind a long one: got %d", status)
	}
}

// Who asks for a stream and gets JSON gets it as it is, and what it used is learnt.
func TestJSONForAStream(t *testing.T) {
	for path, answer := range map[string]string{
		"/v1/messages":         reply,
		"/v1/chat/completions": `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}`,
		"/api/chat":            `{"model":"m","message":{"role":"assistant","content":"ok"},"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":3}`,
	} {
		p := before(t, &mirror{answer: says(object, answer)}, nil, nil)
		status, _, got := post(t, p.url+path, nil, askMore)
		if line := p.log.Requests(t, 1)[0]; status != 200 || got != answer || line["usage_input"] != 7.0 || line["usage_output"] != 3.0 {
			t.Errorf("%s: got %d %s, %v", path, status, got, line)
		}
	}
}

// A success that is an error inside, and no stream, is passed on; the log tells what it was.
func TestErrorForAReply(t *testing.T) {
	for path, answer := range map[string]string{
		"/v1/messages":         `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
		"/v1/chat/completions": `{"error":{"message":"Our servers are currently overloaded.","type":"server_error","code":"server_is_overloaded"}}`,
	} {
		p := before(t, &mirror{answer: says(object, answer)}, nil, nil)
		status, _, got := post(t, p.url+path, nil, ask)
		if line := p.log.Requests(t, 1)[0]; status != 200 || got != answer || line["class"] != "overloaded" {
			t.Errorf("%s: got %d %s, %v", path, status, got, line)
		}
	}
}

// A mangler sends what its model says in another form: lines that end in CR and LF, one
// byte at a time.
type mangler struct {
	model http.Handler

	mu   sync.Mutex
	sent []string
}

func (m *mangler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := httptest.NewRecorder()
	m.model.ServeHTTP(answer, r)
	text := strings.ReplaceAll(answer.Body.String(), "\n", "\r\n")
	m.mu.Lock()
	m.sent = append(m.sent, text)
	m.mu.Unlock()
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.Header().Del("Content-Length")
	w.WriteHeader(answer.Code)
	for i := range len(text) {
		_, _ = io.WriteString(w, text[i:i+1])
		_ = http.NewResponseController(w).Flush()
	}
}

// Streams are read and, where the client is told its own size, written whatever their lines
// end in and wherever they are cut, in the middle of a character too.
func TestMangledStreams(t *testing.T) {
	const script = "window 8000\noutput 500\nreply 12 times when tools\n  call read {\"path\": \"Grüße/世界/🎉.txt\"}\nreply always\n  text \"Grüße, 世界 🎉.\"\n"
	for _, d := range testagent.Dialects() {
		for _, told := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s_view_%t", d, told), func(t *testing.T) {
				model := scripted(t, script)
				m := &mangler{model: model}
				p := before(t, m, func(o *gateway.Options) { o.ClientView = told }, nil)
				a := testagent.New(p.url, d, true)
				must(t, a.Run(t.Context()))
				noFault(t, model)
				if got := a.History[len(a.History)-1].Text(); got != "Grüße, 世界 🎉." {
					t.Errorf("got %q", got)
				}
				lines := p.log.Requests(t, 13)
				last := lines[len(lines)-1]
				if last["edited"] != true || last["usage_output"] == nil {
					t.Errorf("got %v", last)
				}
			})
		}
	}
}

// A thousand requests at once that begin one conversation are one conversation.
func TestThousandAtOnce(t *testing.T) {
	m := &mirror{answer: says(object, reply)}
	p := before(t, m, nil, nil)
	const n = 1000
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			resp, err := plain.Post(p.url+"/v1/messages", object, strings.NewReader(ask))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if got, err := io.ReadAll(resp.Body); err != nil || string(got) != reply {
				t.Errorf("got %d %s, %v", resp.StatusCode, got, err)
			}
		})
	}
	all.Wait()
	began, sessions := 0, map[any]bool{}
	for _, line := range p.log.Requests(t, n) {
		sessions[line["session"]] = true
		if line["match"] == "new" {
			began++
		}
	}
	if began != 1 || len(sessions) != 1 || len(m.all()) != n {
		t.Errorf("%d requests left; %d began a conversation, of sessions %v", len(m.all()), began, sessions)
	}
	for _, got := range m.all() {
		if string(got.body) != ask {
			t.Fatalf("left as %s", got.body)
		}
	}
}

// Whatever another user's conversation is called, its name opens nothing.
func TestIDsOfOthers(t *testing.T) {
	secrets, file := make([]string, 2), ""
	for i, name := range []string{"ann", "bob"} {
		secret, line, err := proxy.NewKey(name)
		must(t, err)
		secrets[i], file = secret, file+line+"\n"
	}
	keys, err := proxy.ReadKeys(strings.NewReader(file))
	must(t, err)
	model := scripted(t, "window 8000\noutput 500\nreply 12 times when tools\n  call read {\"path\": \"secret.txt\"}\nreply always\n  text \"Done.\"\n")
	p := before(t, model, nil, func(o *proxy.Options) { o.Keys = keys })
	ann := testagent.New(p.url, "anthropic", false)
	ann.Header = http.Header{"X-Plimsoll-Key": secrets[:1], "X-Api-Key": {"own"}, "X-Session-Id": {"of-ann"}}
	must(t, ann.Run(t.Context()))
	lines := p.log.Requests(t, 13)
	session := lines[len(lines)-1]["session"].(string)
	body, err := ann.Body() // of which bob has every byte
	must(t, err)
	for name, id := range map[string]string{
		"X-Session-Id": "of-ann", "X-Plimsoll-Session": session, "X-Claude-Code-Session-Id": session, "Thread-Id": strings.Split(session, "/")[1], "Session_id": "ann",
	} {
		n := len(p.log.Requests(t, 1))
		bob := testagent.New(p.url, "anthropic", false)
		bob.Header = http.Header{"X-Plimsoll-Key": secrets[1:], "X-Api-Key": {"own"}, name: {id}}
		_, err := bob.Send(t.Context(), body)
		line := p.log.Requests(t, n+1)[n]
		if err != nil || line["key"] != "bob" || line["match"] != "new" || line["session"] == session {
			t.Errorf("%s: %v, %v", name, err, line)
		}
	}
	calls := len(model.Log())
	mine := http.Header{"X-Plimsoll-Key": secrets[:1], "Authorization": {"Bearer own"}}
	_, _, answer := post(t, p.url+"/v1/responses", mine, `{"model":"m","input":"What is in it?","store":true}`)
	id := answer[strings.Index(answer, "resp_"):]
	id = id[:strings.IndexByte(id, '"')]
	for i, want := range []int{200, 400} {
		h := http.Header{"X-Plimsoll-Key": secrets[i : i+1], "Authorization": {"Bearer own"}}
		status, _, answer := post(t, p.url+"/v1/responses", h, fmt.Sprintf(`{"model":"m","input":"And now?","previous_response_id":%q}`, id))
		if status != want || (status == 400) != strings.Contains(answer, "previous_response_not_found") {
			t.Errorf("%d goes on with %s of 0: got %d %s", i, id, status, answer)
		}
	}
	if got := len(model.Log()); got != calls+2 {
		t.Errorf("%d calls of the model, want 2", got-calls)
	}
}

// locked opens a store in a file that somebody else can lock.
func locked(t *testing.T) (s *sqlite.Store, lock func() (unlock func())) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s, func() func() {
		db, err := sql.Open("sqlite", path)
		must(t, err)
		conn, err := db.Conn(t.Context())
		must(t, err)
		_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
		must(t, err)
		return func() {
			_ = conn.Close()
			_ = db.Close()
		}
	}
}

// While another process holds the lock of the store a request leaves all the same, if
// nothing is to be taken out; its records are written when the lock is free, before its
// client gets the answer.
func TestLockedForAWhile(t *testing.T) {
	s, lock := locked(t)
	unlock := lock()
	m := &mirror{answer: func(w http.ResponseWriter, r *http.Request) {
		unlock()
		says(object, reply)(w, r)
	}}
	p := before(t, m, func(o *gateway.Options) { o.Store = s }, nil)
	status, _, answer := post(t, p.url+"/v1/messages", nil, ask)
	line := p.log.Requests(t, 1)[0]
	if status != 200 || answer != reply || line["passed"] != nil {
		t.Errorf("got %d %s, %v", status, answer, line)
	}
	records := 0
	for _, err := range s.Records(t.Context(), line["session"].(string), 0) {
		must(t, err)
		records++
	}
	if records == 0 {
		t.Error("nothing was written")
	}
}

// A store that stays locked keeps nobody waiting for good: what fits is answered, and the
// log says what was not written.
func TestLockedForGood(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the store as long as it waits for a lock")
	}
	t.Parallel()
	s, lock := locked(t)
	p := before(t, &mirror{answer: says(object, reply)}, func(o *gateway.Options) { o.Store = s }, nil)
	unlock := lock()
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			body := strings.Replace(ask, `"x"`, fmt.Sprintf(`"%d"`, n), 1)
			if status, _, answer := post(t, p.url+"/v1/messages", nil, body); status != 200 || answer != reply {
				t.Errorf("got %d %s", status, answer)
			}
		})
	}
	all.Wait()
	unlock()
	p.log.Requests(t, 4)
	if text := p.log.String(); !strings.Contains(text, "records were not written") || !strings.Contains(text, "locked") {
		t.Errorf("got %s", text)
	}
	if status, _, answer := post(t, p.url+"/v1/messages", nil, ask); status != 200 || answer != reply {
		t.Errorf("when the lock is free: got %d %s", status, answer)
	}
	if line := p.log.Requests(t, 5)[4]; line["session"] == nil {
		t.Errorf("when the lock is free: got %v", line)
	}
}
