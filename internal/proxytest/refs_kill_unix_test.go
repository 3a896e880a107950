//go:build unix

package proxytest

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	root "github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// senderEnv makes the test binary a program that stores and sends: its policy, the name of
// its session, and the file.
const senderEnv = "PLIMSOLL_SENDER"

var anyRef = regexp.MustCompile(`\br[a-z2-7]{26}\b`)

// sender stores outputs and sends requests until it is killed. It prints a line before each
// thing that it does; that of a request, which has left with it, has the Refs that it names.
func sender(job string) error {
	var preset, id, path string
	if _, err := fmt.Sscan(job, &preset, &id, &path); err != nil {
		return err
	}
	ctx := context.Background()
	p, err := policy.Preset(preset)
	if err != nil {
		return err
	}
	st, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	target := budget.Target{Model: "scripted-model", Window: budget.Window{Capacity: window}}
	if preset == "guard" {
		target.Window.Capacity *= 16 // it compacts nothing
	}
	s, err := root.Open(ctx, root.Options{ID: id, Store: st, Policy: p, Targets: []budget.Target{target}})
	if err != nil {
		return err
	}
	if s.Len() == 0 {
		if err := s.Append(ctx, llm.UserText("Read them.")); err != nil {
			return err
		}
	}
	for {
		if err := cycle(ctx, s); err != nil {
			return err
		}
	}
}

// cycle sends a request, takes its reply, and stores the output that is asked for.
func cycle(ctx context.Context, s *root.Session) error {
	send, err := s.Prepare(ctx)
	if err != nil {
		return err
	}
	line := "sent"
	for _, m := range send.Messages() {
		for _, text := range append([]string{m.Text()}, texts(m)...) {
			line += " " + strings.Join(anyRef.FindAllString(text, -1), " ")
		}
	}
	for _, e := range s.Edits() {
		for _, ref := range e.Refs {
			line += " " + string(ref)
		}
	}
	n := s.Len()
	fmt.Println(line)
	call := llm.ToolCall{CallID: fmt.Sprintf("call_%d", n), Name: "read", Args: fmt.Sprintf(`{"n":%d}`, n)}
	if err := s.Append(ctx, llm.AssistantText("", call)); err != nil {
		return err
	}
	fmt.Println("stores")
	var b strings.Builder
	for i := range 30 + n*7%300 {
		fmt.Fprintf(&b, "line %d of output %d of %s says %x\n", i, n, s.ID(), uint32(i*n)*2654435761) //nolint:gosec // any number will do
	}
	_, err = s.ToolResult(ctx, root.Result{CallID: call.CallID, Body: strings.NewReader(b.String())})
	return err
}

func texts(m llm.Message) (out []string) {
	for _, r := range m.Results() {
		out = append(out, r.Text())
		for _, c := range r.Content {
			if stub, ok := c.(llm.Stub); ok {
				out = append(out, stub.Text, string(stub.Ref))
			}
		}
	}
	return out
}

// A left is the Refs that have left, by session.
type left struct {
	mu   sync.Mutex
	all  []sentRef
	read int // by readers that were at work beside
}

type sentRef struct {
	session string
	ref     llm.Ref
}

func (l *left) add(session string, names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range names {
		l.all = append(l.all, sentRef{session, llm.Ref(name)})
	}
}

// any returns one of the last 200; there is one.
func (l *left) any(rnd *rand.Rand) sentRef {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[len(l.all)-1-rnd.IntN(min(len(l.all), 200))]
}

// resolve reads what a Ref stands for and compares it.
func (r sentRef) resolve(ctx context.Context, s *sqlite.Store) error {
	data, err := s.Get(ctx, r.session, r.ref)
	if err != nil {
		return err
	}
	if got := llm.RefOf(data); got != r.ref {
		return fmt.Errorf("session %s: ref %s, got the content of %s", r.session, r.ref, got)
	}
	return nil
}

// TestKilledRefs: a program that stores and sends is killed anywhere between two of its
// requests, while others read. Every Ref that has left can be read then and later, and is of
// what it says.
func TestKilledRefs(t *testing.T) {
	t.Parallel()
	for seed, preset := range []string{"guard", "balanced", "layered"} {
		t.Run("law2_R002-26_"+preset, func(t *testing.T) {
			t.Parallel()
			db, out := filepath.Join(t.TempDir(), "refs.db"), &left{}
			rnd := rand.New(rand.NewPCG(uint64(seed), 14)) //nolint:gosec // to be repeatable is the point
			sends := 0
			for life := range max(1, kills(t)/3) {
				sends += killSender(t, rnd, db, fmt.Sprintf("%s %d", preset, life/10), out)
				if t.Failed() {
					t.Fatalf("life %d", life)
				}
			}
			s, err := sqlite.Open(t.Context(), db, sqlite.Options{Existing: true})
			must(t, err)
			defer s.Close()
			known := map[sentRef]bool{}
			for _, r := range out.all {
				if !known[r] {
					known[r] = true
					must(t, r.resolve(t.Context(), s))
				}
			}
			must(t, s.Verify(t.Context(), func(p sqlite.Problem) { t.Error(p) }, nil))
			t.Logf("%d requests, %d refs, read %d times beside", sends, len(known), out.read)
			if kills(t) >= 20 && (sends == 0 || len(known) == 0 || out.read == 0) {
				t.Error("want requests that name refs, and readers beside")
			}
		})
	}
}

// killSender lets a program send, reads beside it, and kills it. It returns how many requests
// have left.
func killSender(t *testing.T, rnd *rand.Rand, db, job string, out *left) (sends int) {
	t.Helper()
	preset, id, _ := strings.Cut(job, " ")
	session := preset + "-" + id
	cmd := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // this very program
	cmd.Env = append(os.Environ(), senderEnv+"="+preset+" "+session+" "+db)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<24)
	at := rnd.IntN(16)
	done := make(chan struct{})
	var beside sync.WaitGroup
	reads := false
	for n := 0; lines.Scan(); n++ {
		if names, ok := strings.CutPrefix(lines.Text(), "sent"); ok {
			sends++
			out.add(session, strings.Fields(names))
		}
		if !reads && len(out.all) > 0 {
			reads = true
			beside.Go(func() { readBeside(t, db, out, done) })
		}
		if n == at {
			must(t, cmd.Process.Kill())
		}
	}
	close(done)
	beside.Wait()
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Errorf("want the program killed, got %v", err)
	}
	return sends
}

// readBeside reads Refs that have left until it is told to stop.
func readBeside(t *testing.T, db string, out *left, done <-chan struct{}) {
	ctx := t.Context()
	s, err := sqlite.Open(ctx, db, sqlite.Options{Existing: true})
	if err != nil {
		t.Error(err)
		return
	}
	defer s.Close()
	rnd := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // to be repeatable is the point
	for {
		select {
		case <-done:
			return
		default:
		}
		if err := out.any(rnd).resolve(ctx, s); err != nil {
			t.Error(err)
			return
		}
		out.mu.Lock()
		out.read++
		out.mu.Unlock()
	}
}
