package plimsoll_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// update makes TestDebugPage write the page.
var update = flag.Bool("update", false, "write what a run prints into docs/troubleshooting.md; the diff must be understood")

// A line is a record of the guard's traces.
type line struct {
	topic  string
	names  []string
	fields map[string]any
}

func (l line) num(name string) int {
	n, ok := l.fields[name].(int64)
	if !ok {
		panic(fmt.Sprintf("%s: %s is %v, want a number", l.topic, name, l.fields[name]))
	}
	return int(n)
}

// A recorder is a slog handler that keeps what it is given.
type recorder struct{ lines []line }

func (r *recorder) Enabled(context.Context, slog.Level) bool { return true }
func (r *recorder) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *recorder) WithGroup(string) slog.Handler            { return r }

func (r *recorder) Handle(_ context.Context, rec slog.Record) error {
	l := line{topic: strings.TrimPrefix(rec.Message, "context-guard/"), fields: map[string]any{}}
	rec.Attrs(func(a slog.Attr) bool {
		l.names = append(l.names, a.Key)
		l.fields[a.Key] = a.Value.Any()
		return true
	})
	r.lines = append(r.lines, l)
	return nil
}

// topics returns the topics since the last call.
func (r *recorder) topics() []string {
	var out []string
	for _, l := range r.lines {
		out = append(out, l.topic)
	}
	r.lines = nil
	return out
}

// fields are those of the guard document (R000-25), after the name of the session.
// Where the document prints no example the counters have the names of the others.
var fields = map[string]string{
	"init-counters":   "currentCtxTokens pendingCtxTokens newCtxTokens schemaCtxTokens",
	"loop-init":       "currentCtxTokens pendingCtxTokens newCtxTokens schemaCtxTokens",
	"schema-estimate": "currentCtxTokens pendingCtxTokens newCtxTokens schemaCtxTokens",
	"evaluate": "trigger projectedTokens currentCtxTokens pendingCtxTokens newCtxTokens schemaCtxTokens extraTokens " +
		"currentReasoningTokens",
	"evaluate-target": "provider model contextWindow bufferTokens maxOutputTokens limit",
	"provider-eval":   "provider model status blocked",
	"build-metrics":   "provider model ctxTokens newTokens schemaTokens expectedTokens contextPct countedTokens",
	"enforce":         "reason trigger blocked",
}

// debugged is a session under the guard whose traces are recorded.
func debugged(t *testing.T, targets ...budget.Target) (*plimsoll.Session, *recorder) {
	t.Helper()
	r := &recorder{}
	return open(t, plimsoll.Options{
		ID: "s", Policy: preset(t, "guard"), Targets: targets, Debug: slog.New(r), Reasoning: 1_000,
	}), r
}

// untilFinal takes a session from its beginning to a final Step that the guard forces:
// tools, a Turn with an output, a call that all but fills the window, and one more.
func untilFinal(t *testing.T, s *plimsoll.Session) *engine.Send {
	t.Helper()
	if err := s.SetTools(t.Context(), []llm.Tool{{Name: "read", Description: "Reads a file."}, {Name: policy.ToolFinalReport}}); err != nil {
		t.Fatal(err)
	}
	add(t, s, human("What is in the log? secret"))
	prepare(t, s)
	observe(t, s, llm.Usage{Input: 1_000, Output: 50})
	add(t, s, calls("read", 1))
	result(t, s, "c1", output(4_000))
	prepare(t, s)
	observe(t, s, llm.Usage{Input: 9_750, Output: 50})
	add(t, s, reply("All is well."), human("Are you sure? "+output(400)))
	return prepare(t, s)
}

// TestDebug is R000-25: every topic appears, with the fields of the document.
func TestDebug(t *testing.T) {
	s, r := debugged(t)
	untilFinal(t, s)
	seen := map[string]bool{}
	for _, l := range r.lines {
		seen[l.topic] = true
		if got, want := strings.Join(l.names, " "), "session "+fields[l.topic]; got != want {
			t.Errorf("R000-25 %s: fields %q, want %q", l.topic, got, want)
		}
		if l.fields["session"] != "s" {
			t.Errorf("%s: session %v, want s", l.topic, l.fields["session"])
		}
		if strings.Contains(fmt.Sprint(l.fields), "secret") {
			t.Errorf("%s: what a person wrote is in it", l.topic)
		}
	}
	for topic := range fields {
		if !seen[topic] {
			t.Errorf("R000-25: want a record about %s, got none", topic)
		}
	}
}

// TestDebugOrder is R000-25 with R000-14: each moment tells what it does, in its order.
func TestDebugOrder(t *testing.T) {
	s, r := debugged(t)
	step := func(name string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, r.topics()); diff != "" {
			t.Errorf("%s: - want, + got\n%s", name, diff)
		}
	}
	step("a session begins", "init-counters")
	if err := s.SetTools(t.Context(), []llm.Tool{{Name: "read"}}); err != nil {
		t.Fatal(err)
	}
	step("the tools are set", "schema-estimate")
	add(t, s, human("Go."))
	step("a question")
	prepare(t, s)
	step("the first call of a Turn", "loop-init", "evaluate", "evaluate-target", "provider-eval", "build-metrics")
	prepare(t, s)
	step("the same call again", "evaluate", "evaluate-target", "provider-eval", "build-metrics")
	observe(t, s, llm.Usage{Input: 9_750})
	add(t, s, calls("read", 2))
	step("a reply")
	result(t, s, "c1", "nothing")
	result(t, s, "c2", output(400))
	step("two outputs", "evaluate", "evaluate-target", "evaluate", "evaluate-target")
	prepare(t, s)
	step("the final Step", "evaluate", "evaluate-target", "enforce", "schema-estimate", "provider-eval", "build-metrics")
}

// TestDebugFigures: the figures of all topics fit together, and what the session itself
// says is the same.
func TestDebugFigures(t *testing.T) {
	s, r := debugged(t)
	send := untilFinal(t, s)
	for _, l := range r.lines {
		switch l.topic {
		case "evaluate":
			if got := l.num("currentCtxTokens") + l.num("pendingCtxTokens") + l.num("newCtxTokens") + l.num("extraTokens"); got != l.num("projectedTokens") {
				t.Errorf("R000-3 projected %d, want the sum %d", l.num("projectedTokens"), got)
			}
			if l.num("currentReasoningTokens") != 1_000 {
				t.Errorf("R000-1 reasoning %v, want 1000", l.fields["currentReasoningTokens"])
			}
		case "evaluate-target":
			if got := l.num("contextWindow") - l.num("bufferTokens") - l.num("maxOutputTokens"); got != l.num("limit") || got != 9_808 {
				t.Errorf("R000-6 limit %d, want %d", l.num("limit"), got)
			}
		}
	}
	u, last := s.Usage(), r.lines[len(r.lines)-1]
	if got := []int{last.num("ctxTokens"), last.num("newTokens"), last.num("schemaTokens")}; !slices.Equal(got, []int{u.Guard.Current, u.Guard.Fresh, u.Guard.Schema}) {
		t.Errorf("build-metrics says %v, the session %+v", got, u.Guard)
	}
	if last.num("expectedTokens") != sum(u.Guard) || last.num("countedTokens") != send.Count.Bound {
		t.Errorf("build-metrics says %v, the request has %d by the guard and at most %d by the count", last.fields, sum(u.Guard), send.Count.Bound)
	}
	if want := ((sum(u.Guard)+8_192+2_000)*100 + 10_000) / 20_000; last.num("contextPct") != want {
		t.Errorf("%d %% of the window, want %d %%, buffer and reserve taken as used", last.num("contextPct"), want)
	}
}

// TestDebugReserved: what is reserved for other outputs is the sum's extra tokens
// (R000-3), and what has room is not blocked.
func TestDebugReserved(t *testing.T) {
	s, r := debugged(t)
	add(t, s, human("Go."), calls("read", 2))
	if _, err := s.Budget().Reserve(t.Context(), 700); err != nil {
		t.Fatal(err)
	}
	r.topics()
	result(t, s, "c1", output(400))
	if l := r.lines[0]; l.topic != "evaluate" || l.num("extraTokens") != 700 || l.fields["trigger"] != "tool_preflight" {
		t.Errorf("R000-3 %s: %v, want 700 extra tokens", l.topic, l.fields)
	}
}

// TestDebugTargets: each target has its line, and those without room are named.
func TestDebugTargets(t *testing.T) {
	small := budget.Target{Provider: "small", Model: "mystery", Window: window(1_000)}
	large := budget.Target{Provider: "large", Model: "mystery", Window: window(9_000)}
	s, r := debugged(t, small, large)
	add(t, s, human(output(8_000)))
	r.topics()
	prepare(t, s)
	var got []string
	for _, l := range r.lines {
		if l.topic == "provider-eval" {
			got = append(got, fmt.Sprintf("%v %v", l.fields["provider"], l.fields["status"]))
			if b := fmt.Sprintf("%+v", l.fields["blocked"]); !strings.Contains(b, "small") || strings.Contains(b, "large") {
				t.Errorf("R000-25 blocked: %s, want the small one", b)
			}
		}
	}
	if diff := cmp.Diff([]string{"small skip", "large ok"}, got); diff != "" {
		t.Errorf("R000-25 R000-11: - want, + got\n%s", diff)
	}
}

// TestGuardSkips: what the guard's own sum says about a target counts as much as the
// count, where a policy has the guard decide (R000-11).
func TestGuardSkips(t *testing.T) {
	small := budget.Target{Provider: "small", Model: "gpt-4o", Window: window(3_300)}
	large := budget.Target{Provider: "large", Model: "gpt-4o", Window: window(50_000)}
	s, r := debugged(t, small, large)
	// Long words: fewer tokens than a quarter of the characters, which the guard takes.
	add(t, s, human(strings.Repeat("international responsibilities, environmental considerations. ", 220)))
	send := prepare(t, s)
	if sum(s.Usage().Guard) <= 3_300 || send.Count.Bound > 3_300 {
		t.Fatalf("want only the guard's sum above 3,300, got %d and %d", sum(s.Usage().Guard), send.Count.Bound)
	}
	if send.Target.Name() != "large/gpt-4o" {
		t.Errorf("R000-11: sent to %s, whose limit is below the guard's sum", send.Target.Name())
	}
	for _, l := range r.lines {
		if l.topic == "provider-eval" && l.fields["provider"] == "small" && l.fields["status"] != "skip" {
			t.Errorf("R000-25: status %v of a target that is among the blocked", l.fields["status"])
		}
	}
}

// TestDebugStatus: what a line says about its target, it says twice.
func TestDebugStatus(t *testing.T) {
	one := budget.Target{Provider: "p", Model: "gpt-4o", Window: window(3_300)}
	s, r := debugged(t, one)
	add(t, s, human(strings.Repeat("international responsibilities, environmental considerations. ", 220)))
	send := prepare(t, s)
	if send.Final != engine.ReasonContext || send.Count.Bound > 3_300 {
		t.Fatalf("want a final Step by the guard's sum alone, got %q and %d tokens", send.Final, send.Count.Bound)
	}
	for _, l := range r.lines {
		if blocked := fmt.Sprint(l.fields["blocked"]) != "[]"; l.topic == "provider-eval" && blocked == (l.fields["status"] == "ok") {
			t.Errorf("R000-25: status %v, blocked %v", l.fields["status"], l.fields["blocked"])
		}
	}
}

// TestDebugTurn: what a Turn begins with is pending (R000-2).
func TestDebugTurn(t *testing.T) {
	s, r := debugged(t)
	add(t, s, human(output(400)))
	prepare(t, s)
	for _, l := range r.lines {
		if l.topic == "loop-init" && (l.num("pendingCtxTokens") < 100 || l.num("newCtxTokens") != 0) {
			t.Errorf("R000-25 loop-init: %v, want the question pending", l.fields)
		}
	}
}

// TestDebugVariable: CONTEXT_DEBUG=true alone turns the traces on, to standard error in
// lines of JSON, and nothing else does (R000-25).
func TestDebugVariable(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "": false, "1": false, "false": false} {
		t.Run("R000-25_"+value, func(t *testing.T) {
			t.Setenv("CONTEXT_DEBUG", value)
			file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
			if err != nil {
				t.Fatal(err)
			}
			saved := os.Stderr
			os.Stderr = file
			s := open(t, plimsoll.Options{Policy: preset(t, "guard")})
			os.Stderr = saved
			add(t, s, human("Go."))
			prepare(t, s)
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
			written, err := os.ReadFile(file.Name())
			if err != nil {
				t.Fatal(err)
			}
			if got := len(written) > 0; got != want {
				t.Fatalf("%d bytes on standard error, want some: %v", len(written), want)
			}
			for text := range bytes.Lines(written) {
				var rec struct {
					Level string `json:"level"`
					Msg   string `json:"msg"`
				}
				if err := json.Unmarshal(text, &rec); err != nil || rec.Level != "DEBUG" || !strings.HasPrefix(rec.Msg, "context-guard/") {
					t.Errorf("%s: %v", text, err)
				}
			}
		})
	}
}

// TestDebugPage holds the output that docs/troubleshooting.md shows against a real run.
// With -update the page is written; read the diff.
func TestDebugPage(t *testing.T) {
	var b bytes.Buffer
	o := plimsoll.Options{ID: "s", Policy: preset(t, "guard"), Reasoning: 1_000, Debug: slog.New(slog.NewJSONHandler(&b, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
				return slog.Attr{}
			}
			return a
		},
	}))}
	s := open(t, o)
	untilFinal(t, s)
	all := strings.Split(strings.TrimSpace(b.String()), "\n")
	from := slices.IndexFunc(all, func(l string) bool { return strings.Contains(l, "context-guard/enforce") })
	want := "```json\n" + strings.Join(all[from-2:], "\n") + "\n```"
	page, err := os.ReadFile(filepath.Join("docs", "troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(page), want) {
		return
	}
	before, rest, ok := strings.Cut(string(page), "```json\n{\"msg\":\"context-guard/")
	_, after, closed := strings.Cut(rest, "\n```")
	if *update && ok && closed {
		if err := os.WriteFile(filepath.Join("docs", "troubleshooting.md"), []byte(before+want+after), 0o644); err != nil { //nolint:gosec // a public document
			t.Fatal(err)
		}
		return
	}
	t.Errorf("R000-25: docs/troubleshooting.md does not show what a run prints (-update writes it):\n%s", want)
}
