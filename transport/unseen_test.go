package transport_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/transport"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// A lazy store notes what is on the disk when an append returns, and what may not be yet.
type lazy struct {
	store.Memory
	mu     sync.Mutex
	onDisk bytes.Buffer
	loose  bytes.Buffer
}

func (l *lazy) Append(ctx context.Context, session string, seq int, records [][]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.onDisk.Write(l.loose.Bytes())
	l.loose.Reset()
	l.onDisk.Write(bytes.Join(records, nil))
	return l.Memory.Append(ctx, session, seq, records)
}

func (l *lazy) AppendUnflushed(ctx context.Context, session string, seq int, records [][]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loose.Write(bytes.Join(records, nil))
	return l.Memory.Append(ctx, session, seq, records)
}

// has reports whether a text is on the disk.
func (l *lazy) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Contains(l.onDisk.Bytes(), []byte(text))
}

// TestUnseenIsDurable is law 2: what a client does not see of a Round nobody but the store has,
// so that it is on the disk before the next request leaves, or the client goes on with its own
// calls. What the client has may come later.
func TestUnseenIsDurable(t *testing.T) {
	const result = "is not allowed here"
	for _, mixed := range []bool{false, true} {
		t.Run(fmt.Sprintf("beside own calls %t", mixed), func(t *testing.T) {
			codec, _ := codecs.For("anthropic")
			st := &lazy{}
			g, err := gateway.New(gateway.Options{Store: st, Allow: func(_, _, tool string) bool { return tool != "shell" }})
			must(t, err)
			asked, first := 0, callsShell
			if mixed {
				first.Message = llm.AssistantText("I see.", callsShell.Message.Calls()[0], llm.ToolCall{CallID: "c2", Name: "read", Args: "{}"})
			}
			tr := transport.New(g)
			tr.Base = carrier(func(req *http.Request) (*http.Response, error) {
				if asked++; asked == 1 {
					return provides(t, codec, req, true, first), nil
				}
				if !st.has(result) {
					t.Error("the next request leaves, and what it goes on from is not on the disk")
				}
				return provides(t, codec, req, true, mayNot), nil
			})
			a, _ := withoutShell(t, "anthropic", true, nil)
			a.HTTP = &http.Client{Transport: tr}
			must(t, a.Step(t.Context()))
			if !st.has(result) {
				t.Error("the client goes on, and what it does not have is not on the disk")
			}
			if mixed && asked != 1 || !mixed && asked != 2 {
				t.Errorf("%d requests", asked)
			}
		})
	}
}
