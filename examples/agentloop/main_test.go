package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// TestOrder is the order of a Step (R002-24), as its events and the requests tell it.
func TestOrder(t *testing.T) {
	t.Run("R002-24_steps_in_their_order", func(t *testing.T) {
		r := begin(t, `
reply
  text "I look."
  call list_files {"path": "."}
  call read_file {"path": "long.txt"}
reply
  text "It is in none."
`, "guard", large).finish(t)
		if r.err != nil || r.answer != "It is in none." {
			t.Fatalf("answer %q, %v", r.answer, r.err)
		}
		same(t, "events", r.story(), []string{"sent to anthropic", "answered", "edit big-output", "sent to anthropic", "answered"})
		log := r.server.Log()
		if first := log[0].Request; len(first.Sections) != 1 || len(first.Tools) != 4 || len(first.Messages) != 1 {
			t.Errorf("the first request has %d sections, %d tools, %d messages", len(first.Sections), len(first.Tools), len(first.Messages))
		}
		outputs := results(log[1].Request)
		if len(outputs) != 2 {
			t.Fatalf("%d outputs, want 2", len(outputs))
		}
		listed, handle := outputs[0].Text(), outputs[1].Text()
		if strings.Contains(listed, "handle") {
			listed, handle = handle, listed
		}
		ref := r.events[2].Edit.Refs[0]
		stored, err := r.session.Blob(t.Context(), ref)
		if !strings.Contains(listed, "long.txt") || !strings.Contains(handle, string(ref)) || err != nil || !bytes.HasPrefix(stored, []byte("line 0 of long.txt")) {
			t.Errorf("outputs %q and %q, stored %.20q, %v", listed, handle, stored, err)
		}
		again := must(plimsoll.Open(t.Context(), r.options))
		send, err := again.Prepare(t.Context())
		if err != nil || len(send.Items) != 5 || send.Items[4].Message.Text() != "It is in none." {
			t.Errorf("taken up again: %v, %v", send, err)
		}
	})
	t.Run("R002-24_room_is_made_before_the_call", func(t *testing.T) {
		r := begin(t, `
model "gpt-*" window 9000
reply 14 times
  words 700
  call list_files {"path": "."}
reply
  text "Done."
`, "layered", small).finish(t)
		if r.err != nil || r.answer != "Done." {
			t.Fatalf("answer %q, %v", r.answer, r.err)
		}
		made := 0
		for i, e := range r.events {
			if e.Kind == plimsoll.EventEdit && (e.Edit.Kind == edit.KindSummarise || e.Edit.Kind == edit.KindTruncate) {
				made++
				if before, after := r.events[i-1].Kind, r.events[i+1].Kind; before == plimsoll.EventSent || after == plimsoll.EventAnswered {
					t.Errorf("room was made between %s and %s, want it between an answer and the next request", before, after)
				}
			}
		}
		if made == 0 {
			t.Error("want room made, got none")
		}
		for i, c := range r.server.Log() {
			if c.Status != http.StatusOK {
				t.Errorf("request %d was answered with %d", i+1, c.Status)
			}
		}
	})
}

// TestNineSteps: all nine steps of R002-24 in one run, in their order, which its events, its requests and a restart tell.
func TestNineSteps(t *testing.T) {
	t.Run("R002-24_nine_steps", func(t *testing.T) {
		r := begin(t, `
cache min 20
reply 12 times
  words 300
  call read_file {"path": "a.txt"}
reply always
  text "Done."
`, "layered", budget.Target{Provider: "anthropic", Model: "claude-haiku-4-5", Window: budget.Window{Capacity: 6_000, OutputReserve: 1_000}})
		rules := filepath.Join(r.folder, "AGENTS.md")
		write := func(text string) {
			if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("Answer in one word.")
		if _, err := r.work(t.Context(), "Which file has the answer?"); err != nil {
			t.Fatal(err)
		}
		write("Answer in two words, or in three.")
		r.finish(t)
		if r.err != nil || r.answer != "Done." {
			t.Fatalf("answer %q, %v", r.answer, r.err)
		}
		const ( // in the order of a Step
			built, made, sent, answered, offloaded = "1 prompt", "3, 4 room", "5, 6 request", "7 reply", "8 output stored"
		)
		next := map[string][]string{
			"": {sent}, built: {made, sent}, made: {made, sent}, sent: {answered}, answered: {offloaded, built, made, sent}, offloaded: {made, sent},
		}
		seen, before := map[string]int{}, ""
		for _, e := range r.events {
			now := map[plimsoll.EventKind]string{plimsoll.EventSent: sent, plimsoll.EventAnswered: answered}[e.Kind]
			switch {
			case e.Kind == plimsoll.EventNotice && e.Notice.Kind == engine.EventSections:
				now = built
			case e.Kind == plimsoll.EventEdit && e.Edit.Kind == edit.KindOffload:
				now = offloaded
			case e.Kind == plimsoll.EventEdit && e.Edit.Kind != edit.KindNote && e.Edit.Kind != edit.KindUndo:
				now = made
			}
			if now == "" {
				continue
			}
			if seen[now]++; !slices.Contains(next[before], now) {
				t.Errorf("%s after %s, want one of %q", now, before, next[before])
			}
			if now == sent && e.Sent.Count.Bound > e.Sent.Limit { // 2
				t.Errorf("a request of %d tokens, of %d", e.Sent.Count.Bound, e.Sent.Limit)
			}
			before = now
		}
		for _, step := range []string{built, made, sent, answered, offloaded} {
			if seen[step] == 0 {
				t.Errorf("%s: never, the run tests nothing", step)
			}
		}
		log := r.server.Log()
		for i, want := range map[int]string{0: "Answer in one word.", len(log) - 1: "Answer in two words, or in three."} {
			if s := log[i].Request.Sections; len(s) < 2 || s[1].Text != want || !bytes.Contains(s[1].Data, []byte("cache_control")) { // 1, 6
				t.Errorf("request %d: sections %v, want the rules marked", i, s)
			}
		}
		// 9: what a restart begins with is what was sent last, and the reply.
		again := must(plimsoll.Open(t.Context(), r.options))
		send, err := again.Prepare(t.Context())
		if err != nil || len(send.Items) == 0 || send.Items[len(send.Items)-1].Message.Text() != "Done." {
			t.Fatalf("taken up again: %v, %v", send, err)
		}
		if got, last := len(send.Messages()), len(log[len(log)-1].Request.Messages); got < last || got > last+2 {
			t.Errorf("taken up again with %d messages, want those %d of the last request, and the reply", got, last)
		}
	})
}

// fates tells what became of read_file's outputs, in the order of their calls: w for one that was shown whole, h for a handle, f where not
// even that had room, s for a call that was not run.
func fates(r llm.Request) string {
	const failed = "(tool failed: context window budget exceeded"
	shown := map[string]string{}
	for _, out := range results(r) {
		shown[out.CallID] = out.Text()
	}
	var fates []byte
	for _, m := range r.Messages {
		for _, c := range m.Calls() {
			switch text := shown[c.CallID]; {
			case strings.HasPrefix(text, "line 0 of"), strings.HasPrefix(text, "[read_file output"): // put away for the final request
				fates = append(fates, 'w')
			case strings.HasPrefix(text, "[The output of read_file is kept"):
				fates = append(fates, 'h')
			case text == failed+")":
				fates = append(fates, 'f')
			case strings.HasPrefix(text, failed+"; previous tool overflowed."):
				fates = append(fates, 's')
			default:
				fates = append(fates, '?')
			}
		}
	}
	return string(fates)
}

// TestFinal is the final Step, for the two reasons that this loop has.
func TestFinal(t *testing.T) {
	reader := func(calls int) string {
		return "reply when tool \"read_file\"\n" + strings.Repeat("  call read_file {\"path\": \"a.txt\"}\n", calls) +
			"reply\n  call agent__final_report {\"report\": \"all\"}\n"
	}
	only := []string{policy.ToolFinalReport}
	t.Run("R000-14_context", func(t *testing.T) {
		r := begin(t, reader(30), "guard", small).finish(t)
		log := r.server.Log()
		if r.err != nil || r.answer != "all" || len(log) != 2 {
			t.Fatalf("answer %q after %d requests, %v", r.answer, len(log), r.err)
		}
		last := log[1].Request
		if got := toolNames(log[0].Request); len(got) != 4 {
			t.Errorf("the first request offers %q, want three tools and the policy's own", got)
		}
		same(t, "tools of the last request", toolNames(last), only)
		told := r.story()
		at := slices.Index(told, string(engine.EventFinal))
		if at < 1 {
			t.Fatalf("no final Step in %q", told)
		}
		t.Run("R000-13_R000-23", func(t *testing.T) {
			if got := fates(last); !regexp.MustCompile("^w{2,}h+f?s+$").MatchString(got) {
				t.Errorf("30 outputs became %s, want some whole, then handles, at most one that failed, and no tool run after it", got)
			}
		})
		t.Run("R000-15", func(t *testing.T) {
			if said := last.Messages[len(last.Messages)-1].Text(); !strings.Contains(said, "% full, so this is the last step") {
				t.Errorf("the model is told %q", said)
			}
		})
		t.Run("R000-16", func(t *testing.T) {
			end := slices.DeleteFunc(told[at-1:], func(s string) bool { return s == "edit backstop" }) // the count may want it shorter
			same(t, "the end of the events", end, []string{"tool_budget", "final", "edit no-room", "sent to openai-compatible context", "answered"})
		})
		t.Run("R000-26", func(t *testing.T) {
			if e := r.events[at]; e.Text != "context guard enforced" || e.Notice.Guard.Reason != engine.ReasonContext {
				t.Errorf("a person reads %q, for %+v", e.Text, e.Notice.Guard)
			}
		})
		t.Run("R000-22_side_by_side_is_as_in_turn", func(t *testing.T) {
			for range 5 {
				again := begin(t, reader(30), "guard", small).finish(t)
				if got, want := fates(again.server.Log()[1].Request), fates(last); got != want {
					t.Fatalf("the same calls became %s and %s", want, got)
				}
			}
		})
	})
	t.Run("R000-14_max_turns", func(t *testing.T) {
		r := begin(t, reader(2), "guard", large)
		r.steps = 2
		r.finish(t)
		log := r.server.Log()
		if r.err != nil || r.answer != "all" || len(log) != 2 {
			t.Fatalf("answer %q after %d requests, %v", r.answer, len(log), r.err)
		}
		same(t, "tools of the last request", toolNames(log[1].Request), only)
		same(t, "events", r.story(), []string{"sent to anthropic", "answered", "final", "edit final:max_turns", "sent to anthropic max_turns", "answered"})
	})
	t.Run("R000-23_a_model_that_goes_on_is_stopped", func(t *testing.T) {
		r := begin(t, `
reply always
  text "One more."
  call read_file {"path": "a.txt"}
`, "guard", large)
		r.steps = 2
		r.finish(t)
		if r.err != nil || r.answer != "One more." || len(r.server.Log()) != 2 {
			t.Errorf("answer %q after %d requests, %v", r.answer, len(r.server.Log()), r.err)
		}
		said := r.session.Messages()
		if last := said[len(said)-1].Results(); len(last) != 1 || !last[0].IsError || strings.Contains(last[0].Text(), "line 0") {
			t.Errorf("the call of the final Step has the result %v, want a stated one", last)
		}
	})
}

// TestFallback is the second model, which speaks another dialect.
func TestFallback(t *testing.T) {
	const script = `
reply always when model "gpt-*", no tool "none"
  text "I read on."
  call read_file {"path": "a.txt"}
reply
  text "It is in a.txt."
`
	t.Run("R000-11_no_room", func(t *testing.T) {
		r := begin(t, script, "guard", small, large).finish(t)
		log := r.server.Log()
		if r.err != nil || r.answer != "It is in a.txt." || len(log) < 3 {
			t.Fatalf("answer %q after %d requests, %v", r.answer, len(log), r.err)
		}
		last := log[len(log)-1]
		if last.Dialect != anthropic.Dialect || log[len(log)-2].Dialect != openai.DialectChat {
			t.Errorf("the last requests are in %s and %s, want the second model's dialect after the first one's", log[len(log)-2].Dialect, last.Dialect)
		}
		if faults := check.Request(last.Dialect, last.Body); len(faults) > 0 {
			t.Errorf("the request to the second model: %v", faults)
		}
		if want := len(log) - 1; len(results(last.Request)) != want {
			t.Errorf("it has %d outputs, want %d", len(results(last.Request)), want)
		}
		at := slices.IndexFunc(r.events, func(e plimsoll.Event) bool { return e.Notice != nil && e.Notice.Kind == engine.EventSkip })
		if at < 0 || r.events[at].Notice.Guard.Did != engine.SkippedProvider || r.events[at].Notice.Guard.Target.Name() != small.Name() {
			t.Errorf("events %q, want the first model skipped", r.story())
		}
	})
	t.Run("R000-2_a_failed_call_is_counted_once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { // the client waits before it asks again
			with := begin(t, "reply\n  status 529\nreply\n  status 400 \"no\"\n"+script, "guard", large, small).finish(t)
			without := begin(t, script, "guard", small).finish(t)
			if with.err != nil || without.err != nil || with.answer != without.answer {
				t.Fatalf("%q, %v and %q, %v", with.answer, with.err, without.answer, without.err)
			}
			if log := with.server.Log(); log[0].Status != 529 || log[1].Status != 400 || log[2].Dialect != openai.DialectChat {
				t.Errorf("requests were answered with %d and %d, the third is in %s", log[0].Status, log[1].Status, log[2].Dialect)
			}
			if a, b := with.session.Usage().Guard, without.session.Usage().Guard; a != b {
				t.Errorf("counters %+v with failures and %+v without", a, b)
			}
			if a, b := with.session.Bill(), without.session.Bill(); a.Calls != b.Calls || a.Usage != b.Usage {
				t.Errorf("bill %+v with failures and %+v without", a, b)
			}
		})
	})
	t.Run("a_failure_is_told", func(t *testing.T) {
		r := begin(t, "reply\n  status 401 \"wrong key\"\nreply\n  text \"It is in a.txt.\"\n", "guard", large, small).finish(t)
		if r.err != nil || r.answer != "It is in a.txt." {
			t.Fatalf("answer %q, %v", r.answer, r.err)
		}
		if told := r.told.String(); !strings.HasPrefix(told, large.Name()+" is not asked any more in this turn: ") || !strings.Contains(told, "wrong key") {
			t.Errorf("told %q", told)
		}
		if r.models[0].Name() != large.Name() {
			t.Errorf("after the turn %v are left, want both, the preferred one first", r.models)
		}
	})
	t.Run("all_fail", func(t *testing.T) {
		r := begin(t, "reply\n  status 401 \"wrong key\"\nreply always\n  status 400 \"no\"\n", "guard", small, large).finish(t)
		if r.err == nil || !strings.Contains(r.err.Error(), "wrong key") || !strings.Contains(r.err.Error(), large.Model) || len(r.server.Log()) != 2 {
			t.Errorf("%d requests, %v", len(r.server.Log()), r.err)
		}
	})
}

// TestReport is what a person reads of a final report.
func TestReport(t *testing.T) {
	for args, want := range map[string]string{
		`{"report": "It is\nin a.txt."}`:     "It is\nin a.txt.",
		`{"report": "x", "confidence": "y"}`: `{"report": "x", "confidence": "y"}`,
		`{"report": {"text": "x"}}`:          `{"report": {"text": "x"}}`,
		`{"report": ""}`:                     `{"report": ""}`,
		`plain`:                              "plain",
		`null`:                               "null",
	} {
		if got := report(args); got != want {
			t.Errorf("report(%s) = %q, want %q", args, got, want)
		}
	}
}

// TestRejected is a window that is smaller than everybody thought.
func TestRejected(t *testing.T) {
	r := begin(t, `
window 7000
reply
  call read_file {"path": "a.txt"}
reply
  call read_file {"path": "b.txt"}
reply
  call read_file {"path": "c.txt"}
reply
  call read_file {"path": "d.txt"}
reply
  text "Done."
`, "balanced", budget.Target{Provider: small.Provider, Model: small.Model, Window: budget.Window{Capacity: 60_000, OutputReserve: 1_000, Buffer: 500}}).finish(t)
	if r.err != nil || r.answer != "Done." {
		t.Fatalf("answer %q, %v", r.answer, r.err)
	}
	refused := 0
	for _, c := range r.server.Log() {
		if c.Status == http.StatusBadRequest {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%d requests were refused, want one, which teaches the window", refused)
	}
	if w := r.session.Usage().Target.Window.Capacity; w != 7_000 {
		t.Errorf("the window is taken for %d, want 7,000", w)
	}
}
