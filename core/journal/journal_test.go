package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/meter"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

func TestDecodeOfEncodeIsTheRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRecord(t)
		line, err := journal.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.ContainsRune(line, '\n') {
			t.Fatalf("a record is one line, got %q", line)
		}
		again, err := journal.Encode(r)
		if err != nil || !bytes.Equal(line, again) {
			t.Fatalf("law 4: the same record gave %q and %q (%v)", line, again, err)
		}
		back, err := journal.Decode(line)
		if err != nil {
			t.Fatalf("%v\nin %s", err, line)
		}
		if !reflect.DeepEqual(back, r) {
			t.Fatalf("%s\nin %s", cmp.Diff(r, back), line)
		}
	})
}

// formats pairs each line of testdata/v1.jsonl with its record. A line may only
// change together with journal.Version, and lines are never removed: what was
// written once is read for ever.
func formats() []journal.Record {
	const at = "2q4zkp"
	envelope := `{"role":"assistant","content":[{"type":"text","text":"Looking."},{"type":"tool_use","id":"c1","name":"read","input":{"path":"a.go"}}]}`
	text, call := strings.Index(envelope, `{"type":"text"`), strings.Index(envelope, `{"type":"tool_use"`)
	spans := []llm.Span{{Start: text, End: call - 1}, {Start: call, End: len(envelope) - 2}}
	raw := func(i int) llm.Raw { return llm.Raw{Data: []byte(envelope)[spans[i].Start:spans[i].End]} }
	output := `{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"package a"}]}`
	content := `{"type":"text","text":"package a"}`
	ref := llm.RefOf([]byte("package a"))
	return []journal.Record{
		{Kind: journal.KindMessage, Message: llm.Message{
			ID: 1, Role: llm.RoleUser, Origin: llm.Human, Flags: llm.FlagRules | llm.FlagSynthetic,
			Parts: []llm.Part{llm.Text{Text: "What is <a> & b?"}, llm.Media{Type: "image/png", Size: 8, Width: 2, Height: 3, Tokens: 4, Raw: llm.Raw{Data: []byte{0x89, 'P'}}}},
		}},
		{Kind: journal.KindMessage, Message: llm.Message{
			ID: 2, Role: llm.RoleAssistant, Origin: llm.Model, Dialect: "messages",
			Parts:    []llm.Part{llm.Text{Text: "Looking.", Raw: raw(0)}, llm.ToolCall{CallID: "c1", Name: "read", Args: `{"path":"a.go"}`, Raw: raw(1)}},
			Envelope: llm.Envelope{Raw: []byte(envelope), Spans: spans},
		}},
		{Kind: journal.KindMessage, Message: llm.Message{
			ID: 3, Role: llm.RoleTool, Origin: llm.ToolRun, Flags: llm.FlagInterrupted, Dialect: "messages",
			Parts: []llm.Part{llm.ToolResult{
				CallID: "c1", IsError: true, Raw: llm.Raw{Data: []byte(output)},
				Content: []llm.Part{llm.Text{Text: "package a", Raw: llm.Raw{Data: []byte(content)}}},
			}},
		}},
		{Kind: journal.KindMessage, Message: llm.Message{
			ID: 4, Role: llm.RoleAssistant, Origin: llm.Model,
			Parts: []llm.Part{
				llm.Thinking{Text: "so", Signature: at, Redacted: true},
				llm.ToolCall{CallID: "c2", Name: "search", Args: "free", Custom: true, Hosted: true},
				llm.Stub{Ref: ref, Text: "[stored]", Size: 9},
				llm.Opaque{Kind: "reasoning", Raw: llm.Raw{Data: []byte("{}")}},
			},
		}},
		{Kind: journal.KindEdit, Edit: edit.Edit{
			ID: 1, Op: edit.Replace, Kind: edit.KindStub, Span: edit.Span{From: 3, To: 4}, Part: 1,
			Replacement: llm.ToolResult{CallID: "c1", Content: []llm.Part{llm.Stub{Ref: ref, Text: "[stored]", Size: 9}}, Raw: llm.Raw{Base: []byte(output)}},
			Refs:        []llm.Ref{ref}, Before: 90, After: 10, Low: 400, Why: "over the limit", Rule: "batch",
		}},
		{Kind: journal.KindEdit, Edit: edit.Edit{
			ID: 2, Op: edit.Archive, Kind: edit.KindSummarise, Span: edit.Span{From: 1, To: 4},
			Notes:    []llm.Message{{Role: llm.RoleUser, Origin: llm.Note, Flags: llm.FlagSummary, Parts: []llm.Part{llm.Text{Text: "Before: a."}}}},
			Sections: []llm.Section{{Name: "summary", Kind: llm.SectionSummary, Text: "a"}},
			Refs:     []llm.Ref{ref}, Supersedes: []edit.ID{1},
		}},
		{Kind: journal.KindUsage, Usage: journal.Usage{
			Usage:    llm.Usage{Input: 1, CacheRead: 2, CacheWrite5m: 3, CacheWrite1h: 4, Output: 5, Reasoning: 6},
			Reported: true, Output: true, Ratio: 1160,
		}},
		{Kind: journal.KindRejected, Rejected: journal.Rejected{Window: 200000, Used: 203114}},
		{Kind: journal.KindSections, Sections: []llm.Section{
			{Name: "base", Text: "You help.", Cacheable: true, Raw: llm.Raw{Data: []byte(`"You help."`)}},
			{Name: "hidden", Kind: llm.SectionTools, Tokens: 12000},
		}},
		{Kind: journal.KindSections, Sections: []llm.Section{}},
		{Kind: journal.KindTools, Tools: []llm.Tool{{Name: "read", Description: "reads", Schema: `{"type":"object"}`, Builtin: true, Raw: llm.Raw{Base: []byte("{}")}}}},
		{Kind: journal.KindTools},
		{Kind: journal.KindTurnEnd},
		{Kind: journal.KindAsk, Ask: journal.Ask{ID: 1, Kind: "summary", From: 1, To: 9, MaxTokens: 2000, Background: true}},
		{Kind: journal.KindAnswer, Answer: journal.Answer{Ask: 1, Text: "It went \xff.", Err: "late"}},
		{Kind: journal.KindFork, Fork: journal.Fork{Parent: "main", At: 4}},
		{Kind: journal.KindForce, Reason: "max_turns"},
		{Kind: journal.KindExceeded},
		{Kind: journal.KindRule, Rule: journal.RuleMoment{Name: "compact"}},
		{Kind: journal.KindRule, Rule: journal.RuleMoment{Name: "tell-model", Room: true}},
		{Kind: journal.KindAsk, Ask: journal.Ask{
			ID: 2, Kind: "summary", Rule: "write-summary", ByHand: true, Focus: "the \xff files", Edit: 3, Messages: 4, From: 1, To: 3,
		}},
		{Kind: journal.KindAnswer, Answer: journal.Answer{Ask: 2, Text: "All is well.", Outcome: journal.Held}},
		{Kind: journal.KindState, State: &journal.State{}},
		{Kind: journal.KindState, State: fullState()},
		undone(),
	}
}

// undone is an edit that takes another one back.
func undone() journal.Record {
	return journal.Record{Kind: journal.KindEdit, Edit: edit.Edit{
		ID: 3, Op: edit.Undo, Kind: edit.KindUndo, Span: edit.Span{From: 3, To: 4}, Before: 10, After: 90, Why: "edit 1 is taken back", Rule: "undo",
		Supersedes: []edit.ID{1},
	}}
}

// fullState has something in every field.
func fullState() *journal.State {
	return &journal.State{
		LastEdit: 7, Reports: 3,
		Guard:   budget.GuardState{Current: 1, Pending: 2, Fresh: 3, Schema: 4, Reasoning: 5, Reserved: 6, InFlight: true, Within: 7, Sent: 8, Exceeded: true, Forced: true},
		Usage:   llm.Usage{Input: 1, CacheRead: 2, CacheWrite5m: 3, CacheWrite1h: 4, Output: 5, Reasoning: 6},
		Covered: true, Opened: true, Wanted: "max_turns", Final: "context",
		Meters: []journal.MeterState{
			{Key: "gpt o200k"},
			{Key: "claude \xff", State: meter.State{
				Last:        4,
				Calibration: token.CalibrationState{Learnt: [][2]int{{1160, 2000}, {1200, 70}}, Anchored: true, Thinking: token.ThinkingState{AtTurn: true, Steps: 1, Turn: 2, Last: 3, Pending: 4}},
				Anchor:      &meter.Anchor{Border: meter.Border{Messages: 3, Edit: 2}, Front: meter.Front{9, 7}, Prompt: 900, Output: -1, Doubt: 5, Reply: 4},
				Left:        &meter.Left{Border: meter.Border{Messages: 4, Edit: 3}, Front: meter.Front{9, 7, 0, 300}, Point: 1000, Bound: 1700, Doubt: 5},
				Awaited:     &meter.Awaited{Output: 50, Reasoning: 20, Covers: true},
			}},
		},
		Limits: []journal.Limit{{Target: "a/\xff", Window: 20_000}, {Target: "b", Bytes: 500, Accepted: 30_000}},
		Rules: []journal.RuleState{
			{Rule: "batch", Tried: journal.Situation{Messages: 4, Edit: 3, Reports: 2}}, {Rule: "compact", Due: true, Noted: true},
		},
		Declined: journal.DeclinedSummary{To: 4, Tokens: 900},
		Asks:     []journal.Ask{{ID: 2, Kind: "summary", Rule: "write-summary", Background: true, From: 1, To: 4, Edit: 3, Messages: 4}},
		Summary:  1,
		Sent:     journal.Sent{Target: "a/\xff", Edit: 3, Messages: 4, Output: 1000},
	}
}

// TestFormatIsStable: this version writes what it has always written.
func TestFormatIsStable(t *testing.T) {
	for i, line := range fixture(t, 2, len(formats())) {
		want := formats()[i]
		t.Run(fmt.Sprintf("line %d %s", i+1, want.Kind), func(t *testing.T) {
			got, err := journal.Encode(want)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, line) {
				t.Errorf("written\n%s\nwant\n%s", got, line)
			}
			reads(t, line, want)
		})
	}
}

// TestVersion1Opens: what the first version wrote is read as it was meant.
func TestVersion1Opens(t *testing.T) {
	const written = 16 // the kinds and fields that it had
	for i, line := range fixture(t, 1, written) {
		reads(t, line, formats()[i])
	}
	// An undo is written by the name that it had then.
	reads(t, []byte(`{"v":1,"kind":"edit","edit":{"id":3,"op":"restore","kind":"restore","from":3,"to":4,"before":10,"after":90,`+
		`"why":"edit 1 is taken back","rule":"undo","supersedes":[1]}}`), undone())
}

func fixture(t *testing.T, version, want int) [][]byte {
	t.Helper()
	file, err := os.ReadFile(fmt.Sprintf("testdata/v%d.jsonl", version))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSuffix(file, []byte("\n")), []byte("\n"))
	if len(lines) != want {
		t.Fatalf("testdata/v%d.jsonl: want %d lines, got %d", version, want, len(lines))
	}
	return lines
}

func reads(t *testing.T, line []byte, want journal.Record) {
	t.Helper()
	got, err := journal.Decode(line)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

func TestBytesInTheEnvelopeAreWrittenOnce(t *testing.T) {
	block := `{"type":"text","text":"` + strings.Repeat("long ", 2000) + `"}`
	result := `{"type":"tool_result","content":[` + block + `]}`
	raw := []byte(`{"role":"user","content":[` + result + `]}`)
	span := llm.Span{Start: 26, End: 26 + len(result)}
	line, err := journal.Encode(journal.Record{Kind: journal.KindMessage, Message: llm.Message{
		ID: 1, Role: llm.RoleTool, Origin: llm.ToolRun,
		Parts: []llm.Part{llm.ToolResult{
			Raw:     llm.Raw{Data: raw[span.Start:span.End]},
			Content: []llm.Part{llm.Opaque{Kind: "text", Raw: llm.Raw{Data: []byte(block)}}},
		}},
		Envelope: llm.Envelope{Raw: raw, Spans: []llm.Span{span}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(line, []byte("long long")); n != 1000 {
		t.Errorf("want the text once (1000 pairs of words), got %d", n)
	}
}

func TestEncodeRefuses(t *testing.T) {
	message := func(m llm.Message) journal.Record { return journal.Record{Kind: journal.KindMessage, Message: m} }
	for _, tt := range []struct {
		name   string
		record journal.Record
		want   string
	}{
		{"no kind", journal.Record{}, "kind"},
		{"unknown kind", journal.Record{Kind: "other"}, "kind"},
		{"unknown role", message(llm.Message{Role: 5}), "role"},
		{"unknown origin", message(llm.Message{Origin: 9}), "origin"},
		{"unknown flag", message(llm.Message{Flags: 1 << 7}), "flags"},
		{"no part", message(llm.Message{Parts: []llm.Part{nil}}), "part 0"},
		{"pointer to a part", message(llm.Message{Parts: []llm.Part{&llm.Text{}}}), "part 0"},
		{"no part in a result", message(llm.Message{Parts: []llm.Part{llm.ToolResult{Content: []llm.Part{nil}}}}), "part 0: content 0"},
		{"unknown kind of section", journal.Record{Kind: journal.KindSections, Sections: []llm.Section{{Kind: 9}}}, "section 0"},
		{"no ref", journal.Record{Kind: journal.KindEdit, Edit: edit.Edit{Refs: []llm.Ref{""}}}, "ref 0"},
		{"note with an unknown role", journal.Record{Kind: journal.KindEdit, Edit: edit.Edit{Notes: []llm.Message{{Role: 7}}}}, "note 0"},
		{"policy with other bytes", journal.Record{Kind: journal.KindPolicy, Policy: &policy.Policy{Templates: map[string]string{"cap": "\xff"}}}, "UTF-8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			line, err := journal.Encode(tt.record)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("want an error about %q, got %v and %s", tt.want, err, line)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, tt := range []struct{ name, line, want string }{
		{"nothing", ``, "JSON"},
		{"half a line", `{"v":1,"kind":"turn_`, "JSON"},
		{"two records", `{"v":1,"kind":"turn_end"}{"v":1,"kind":"turn_end"}`, "after"},
		{"not an object", `[1]`, "array"},
		{"no UTF-8", "{\"v\":1,\"kind\":\"fork\",\"fork\":{\"parent\":\"\xff\"}}", "UTF-8"},
		{"no version", `{"kind":"turn_end"}`, "version"},
		{"version 0", `{"v":0,"kind":"turn_end"}`, "version"},
		{"no kind", `{"v":1}`, "kind"},
		{"unknown kind", `{"v":1,"kind":"later"}`, "kind"},
		{"no field", `{"v":1,"kind":"message"}`, `"message"`},
		{"the field of another kind", `{"v":1,"kind":"edit","message":{}}`, `"edit"`},
		{"a fraction", `{"v":1,"kind":"message","message":{"id":1.5}}`, "1.5"},
		{"unknown role", `{"v":1,"kind":"message","message":{"role":"oracle"}}`, "role"},
		{"unknown origin", `{"v":1,"kind":"message","message":{"origin":"oracle"}}`, "origin"},
		{"unknown flag", `{"v":1,"kind":"message","message":{"flags":["summary","new"]}}`, "flag"},
		{"unknown part", `{"v":1,"kind":"message","message":{"parts":[{"kind":"text"},{"kind":"smell"}]}}`, "part 1"},
		{"unknown content", `{"v":1,"kind":"message","message":{"parts":[{"kind":"tool_result","content":[{"kind":""}]}]}}`, "part 0: content 0"},
		{"a place without an envelope", `{"v":1,"kind":"message","message":{"parts":[{"kind":"text","in":[0,1]}]}}`, "part 0: place"},
		{"a place beyond it", `{"v":1,"kind":"message","message":{"raw":"abc","parts":[{"kind":"text","in":[1,4]}]}}`, "place"},
		{"a place before it", `{"v":1,"kind":"message","message":{"raw":"abc","parts":[{"kind":"text","in":[-1,2]}]}}`, "place"},
		{"a place that ends before it starts", `{"v":1,"kind":"message","message":{"raw":"abc","parts":[{"kind":"text","in":[2,1]}]}}`, "place"},
		{"not base64", `{"v":1,"kind":"answer","answer":{"b64":{"text":"?"}}}`, "base64"},
		{"not a ref", `{"v":1,"kind":"edit","edit":{"refs":["../../x"]}}`, "ref 0"},
		{"unknown section kind", `{"v":1,"kind":"sections","sections":[{"kind":"other"}]}`, "section 0"},
		{"very deep", `{"v":1,"kind":"message","message":{"parts":` + strings.Repeat(`[{"kind":"tool_result","content":`, 100_000), "depth"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := journal.Decode([]byte(tt.line))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("want an error about %q, got %v and %+v", tt.want, err, r)
			}
			var version *journal.VersionError
			if errors.As(err, &version) {
				t.Errorf("want another error than that of a newer version, got %v", err)
			}
		})
	}
}

func TestDecodeOfANewerVersion(t *testing.T) {
	for _, line := range []string{
		`{"v":6,"kind":"turn_end"}`,
		`{"v":6,"kind":"poem"}`,
		`{"v":7,"kind":{"name":"message"},"message":["of","another","shape"]}`,
	} {
		_, err := journal.Decode([]byte(line))
		var version *journal.VersionError
		if !errors.As(err, &version) || version.Want != journal.Version || version.Got <= journal.Version {
			t.Errorf("%s: want a *VersionError, got %v", line, err)
		}
	}
}

// A session is readable by every program that would not misread it: of tools that are declared as
// deferred one of version 3 knows nothing, and would send requests without them; of what a provider's
// summary stands for one of version 4 knows nothing, and would send requests without that to others.
func TestVersionThatARecordNeeds(t *testing.T) {
	for want, r := range map[string]journal.Record{
		`{"v":2,`: {Kind: journal.KindTurnEnd},
		`{"v":3,`: {Kind: journal.KindOffer, Offer: []int{1}},
		`{"v":4,`: {Kind: journal.KindOffer, Offer: []int{1}, Declared: true},
		`{"v":5,`: {Kind: journal.KindEdit, Edit: edit.Edit{ID: 1, Op: edit.Archive, Kind: edit.KindProvider, Span: edit.Span{From: 1, To: 2}}},
	} {
		line, err := journal.Encode(r)
		if err != nil || !strings.HasPrefix(string(line), want) {
			t.Errorf("%+v: want it to begin with %s, got %s, %v", r, want, line, err)
		}
	}
}

func TestDecodeIgnoresUnknownFields(t *testing.T) {
	r, err := journal.Decode([]byte(`{"v":1,"when":"now","kind":"message","message":{"id":1,"mood":{"good":true},"role":"user","parts":[{"kind":"text","text":"a","font":[1]}]}}`))
	want := journal.Record{Kind: journal.KindMessage, Message: llm.Message{ID: 1, Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "a"}}}}
	if err != nil || !reflect.DeepEqual(r, want) {
		t.Errorf("want %+v, got %+v (%v)", want, r, err)
	}
}

func TestDecodeSharesNothingWithTheLine(t *testing.T) {
	want := formats()[1]
	line, err := journal.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := journal.Decode(line)
	if err != nil {
		t.Fatal(err)
	}
	clear(line)
	if !reflect.DeepEqual(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

func FuzzDecode(f *testing.F) {
	for _, r := range formats() {
		line, err := journal.Encode(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Add([]byte(`{"v":1,"kind":"policy","policy":{"version":1,"rules":[{"name":"a","at":"tool"}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		agree(t, data)
		r, err := journal.Decode(data)
		if err != nil {
			return
		}
		line, err := journal.Encode(r)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := journal.Decode(line)
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("%v\n%s\n%s", err, line, cmp.Diff(r, again))
		}
	})
}
