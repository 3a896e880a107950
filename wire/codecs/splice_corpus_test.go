package codecs

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/recording"
	"github.com/plimsoll-dev/plimsoll/wire/check"
)

// Every recorded reply passes as it came where nothing is hidden; with all its calls hidden
// it is a reply without them, alone and after itself, that breaks no rule which it did not
// break before.
func TestSpliceCorpus(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_CORPUS")
	if dir == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: no recorded replies to splice")
	}
	all, err := recording.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	passed, spliced := 0, 0
	for _, e := range all {
		c, ok := For(e.Dialect)
		if !ok || !e.JSON() && !e.Events() {
			continue
		}
		random := rand.New(rand.NewPCG(1, uint64(len(e.Response)))) //nolint:gosec // the same pieces in every run
		pieces := func(n int) int { return 1 + random.IntN(min(n, 1+random.IntN(n))) }
		got := finished(c.NewSplice(nobodys, e.Stream), [][]byte{e.Response}, pieces)
		if !bytes.Equal(got.Out, e.Response) {
			t.Errorf("%s: want it as it came, got\n%.3000s", e.Name, got.Out)
		}
		passed++
		if got.Err != nil {
			continue
		}
		spliced++
		spliceRecorded(t, c, e, got.Replies[0], pieces)
	}
	t.Logf("%d replies passed, %d spliced", passed, spliced)
	if spliced < 100 {
		t.Errorf("want at least 100 replies, got %d", spliced)
	}
}

// spliceRecorded hides all calls of a recorded reply.
func spliceRecorded(t *testing.T, c Full, e recording.Exchange, reply llm.Response, pieces func(n int) int) {
	t.Helper()
	names := map[string]bool{}
	for _, c := range reply.Message.Calls() {
		var item struct{ Type string }
		if err := json.Unmarshal(c.Data, &item); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		// The calls of the Responses format that are neither are of tools with no name of their own.
		if !c.Hosted && (e.Dialect != recording.Responses || item.Type == "function_call" || item.Type == "custom_tool_call") {
			names[c.Name] = true
		}
	}
	hidden := func(tool string) bool { return names[tool] }
	before := judged(c, e.Response, e.Stream)
	for n := 1; n <= 2; n++ {
		if n == 2 && len(names) == 0 || reply.Reason == "" && e.Dialect == recording.Chat { // it was never said why it ended
			return
		}
		got := finished(c.NewSplice(hidden, e.Stream), slices.Repeat([][]byte{e.Response}, n), pieces)
		if got.Err != nil {
			t.Errorf("%s: %d: %v", e.Name, n, got.Err)
			return
		}
		for _, f := range judged(c, got.Out, e.Stream) {
			if !slices.ContainsFunc(before, func(old check.Fault) bool { return old.Rule == f.Rule }) {
				t.Errorf("%s: %d: %s: %s\n%.3000s", e.Name, n, f.Rule, f.Message, got.Out)
			}
		}
		r, err := readReply(c, got.Out, e.Stream)
		if err != nil {
			t.Errorf("%s: %d: %v\n%.3000s", e.Name, n, err, got.Out)
			return
		}
		want := seen(slices.Repeat([]llm.Response{reply}, n), hidden, true)
		if d := cmp.Diff(want, told(r, true)); d != "" {
			t.Errorf("%s: %d (-want +got)\n%s", e.Name, n, d)
		}
	}
}
