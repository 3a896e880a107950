package sdktest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/transport"
)

// TestTransport: under each SDK an agent that knows of no window ends a task that is four of
// them long. The provider refuses nothing and finds no fault; without the transport it
// refuses the task before a quarter of it is done.
func TestTransport(t *testing.T) {
	for name, run := range agents() {
		for _, stream := range []bool{false, true} {
			t.Run(name+map[bool]string{true: " streamed"}[stream], func(t *testing.T) {
				server, url := scripted(t, growingScript, false)
				setEnvironment(t, url)
				g, err := gateway.New(gateway.Options{Window: func(string, string) budget.Window { return smallWindow }})
				if err != nil {
					t.Fatal(err)
				}
				last, err := run(t.Context(), &http.Client{Transport: transport.New(g)}, stream)
				if err != nil || last != theEnd {
					t.Fatalf("task, want its end, got %q, %v", last, err)
				}
				if n := len(server.Log()); n != growingSteps+1 {
					t.Errorf("calls, want %d, got %d", growingSteps+1, n)
				}
				direct(t, run, stream)
			})
		}
	}
}

// direct fails the test if the task ends without the transport, or does not go wrong in its
// first quarter. Ollama refuses nothing: a prompt that fills the window leaves no room for a
// reply.
func direct(t *testing.T, run agent, stream bool) {
	t.Helper()
	server, url := scripted(t, growingScript, true)
	setEnvironment(t, url)
	last, err := run(t.Context(), &http.Client{}, stream)
	if n := len(server.Log()); err == nil && last == theEnd || 4*n > growingSteps {
		t.Errorf("without the transport, want a failure in the first quarter, got %q, %v after %d of %d calls", last, err, n, growingSteps)
	}
}

func setEnvironment(t *testing.T, url string) {
	t.Helper()
	for name, value := range environment(url) {
		t.Setenv(name, value)
	}
}

// idleScript is a task that fits, with all that a reply may have.
const idleScript = `
secret "k"
reply 5 times
  thinking "Where is the load line – 水?"
  text "I look."
  call read_file {"path": "docs/水.md", "limit": 40}
reply
  text "It is on her side."
`

// TestIdleSDKs: where nothing is due the provider gets the very bytes that it gets without
// the transport, and the SDK those that the provider sent.
func TestIdleSDKs(t *testing.T) {
	for name, run := range agents() {
		for _, stream := range []bool{false, true} {
			t.Run(name+map[bool]string{true: " streamed"}[stream], func(t *testing.T) {
				g, err := gateway.New(gateway.Options{})
				if err != nil {
					t.Fatal(err)
				}
				without, want := idle(t, http.DefaultTransport, run, stream)
				through, kept := counting(g)
				with, got := idle(t, through, run, stream)
				if diff := cmp.Diff(without, with); diff != "" {
					t.Errorf("requests, want the same, got (-without +with):\n%s", diff)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("replies, want the same, got (-without +with):\n%s", diff)
				}
				if n := kept.Load(); n != 6 || len(with) != 6 || len(got) != 6 {
					t.Errorf("calls, want 6, got %d of which %d went through a session", len(with), n)
				}
			})
		}
	}
}

// counting returns a transport and how many exchanges it has had with a session.
func counting(g *gateway.Gateway) (*transport.Transport, *atomic.Int64) {
	var n atomic.Int64
	through := transport.New(g)
	through.Done = func(_ *http.Request, r gateway.Report) {
		if r.Session != "" && !r.Edited {
			n.Add(1)
		}
	}
	return through, &n
}

// idle runs an agent and returns the hashes of what the provider got and of what the SDK got.
func idle(t *testing.T, base http.RoundTripper, run agent, stream bool) (sent, heard []string) {
	t.Helper()
	server, url := scripted(t, idleScript, false)
	setEnvironment(t, url)
	ears := &ears{base: base}
	if last, err := run(t.Context(), &http.Client{Transport: ears}, stream); err != nil || last != theEnd {
		t.Fatalf("task, want its end, got %q, %v", last, err)
	}
	return hashes(server.Log()), ears.hashes()
}

// hashes names what was sent in requests.
func hashes(calls []scriptmodel.Call) (sent []string) {
	for _, c := range calls {
		sent = append(sent, fmt.Sprintf("%s %s %x", c.Method, c.Path, sha256.Sum256(c.Body)))
	}
	return sent
}

// Ears hear what an SDK reads.
type ears struct {
	base http.RoundTripper

	mu    sync.Mutex
	heard []*heardReply
}

// A heardReply is what was read of one.
type heardReply struct {
	bytes.Buffer
	whole bool // to its end
}

// RoundTrip implements http.RoundTripper.
func (e *ears) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := e.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	b := &heardReply{}
	e.heard = append(e.heard, b)
	resp.Body = listening{resp.Body, b}
	return resp, nil
}

// listening is a body of which what is read is kept.
type listening struct {
	io.ReadCloser
	kept *heardReply
}

func (l listening) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	l.kept.Write(p[:n])
	l.kept.whole = l.kept.whole || errors.Is(err, io.EOF)
	return n, err
}

func (e *ears) hashes() (heard []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, b := range e.heard {
		heard = append(heard, fmt.Sprintf("%x", sha256.Sum256(b.Bytes())))
	}
	return heard
}
