package policy_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

func preset(t *testing.T, name string) policy.Policy {
	t.Helper()
	p, err := policy.Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rule returns the rule of p called name.
func rule(t *testing.T, p policy.Policy, name string) policy.Rule {
	t.Helper()
	i := slices.IndexFunc(p.Rules, func(r policy.Rule) bool { return r.Name == name })
	if i < 0 {
		t.Fatalf("%s has no rule %q", p.Name, name)
	}
	return p.Rules[i]
}

func TestPresets(t *testing.T) {
	want := []string{"off", "guard", "cache-compact", "layered", "turn-budget", "lean", "balanced", "quality"}
	if got := policy.Presets(); !slices.Equal(got, want) {
		t.Errorf("Presets() = %q, want %q", got, want)
	}
	for _, name := range want {
		t.Run(name, func(t *testing.T) {
			p := preset(t, name)
			if p.Name != name || p.About == "" {
				t.Errorf("name %q about %q, want name %q and a sentence", p.Name, p.About, name)
			}
			if err := policy.Validate(p); err != nil {
				t.Error(err)
			}
			again, err := policy.Parse(p.JSON())
			if err != nil {
				t.Fatal(err)
			}
			if string(again.JSON()) != string(p.JSON()) {
				t.Errorf("round trip:\n got %s\nwant %s", again.JSON(), p.JSON())
			}
			if p.Backstop == (name == "off") {
				t.Errorf("backstop = %v, want it everywhere but in off", p.Backstop)
			}
		})
	}
	if !slices.Contains(policy.Presets(), policy.DefaultPreset) {
		t.Errorf("the default %q is no preset", policy.DefaultPreset)
	}
	policy.Presets()[0] = "changed"
	if policy.Presets()[0] != "off" {
		t.Error("Presets() shares its list with the caller")
	}
}

func TestPresetUnknown(t *testing.T) {
	for name, want := range map[string]string{
		"balancd": `did you mean "balanced"?`,
		"layer":   `did you mean "layered"?`,
		"xyz":     "want one of off, guard, cache-compact, layered, turn-budget, lean, balanced, quality",
		"../off":  "unknown name",
		"":        "unknown name",
	} {
		if _, err := policy.Preset(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Preset(%q) = %v, want an error with %q", name, err, want)
		}
	}
}

// A turning is one threshold and the figures around it.
type turning struct {
	id       string // requirement
	preset   string
	rule     string
	capacity int
	output   int // stated reserve; 0: none
	limit    int
	at       int  // the threshold
	equal    bool // whether equality acts
}

func TestThresholds(t *testing.T) {
	for _, c := range []turning{
		{"R001-2 share", "cache-compact", "trim-outputs", 128000, 0, 128000, 32000, false},
		{"R001-2 lowest", "cache-compact", "trim-outputs", 40000, 0, 40000, 20000, false},
		{"R001-2 at lowest", "cache-compact", "trim-outputs", 80000, 0, 80000, 20000, false},
		{"R001-2 at highest", "cache-compact", "trim-outputs", 240000, 0, 240000, 60000, false},
		{"R001-2 highest", "cache-compact", "trim-outputs", 1000000, 0, 1000000, 60000, false},
		{"R001-14 inclusive", "cache-compact", "compact", 128000, 16384, 128000, 102400, true},
		{"R001-14 rounded down", "cache-compact", "compact", 99999, 0, 99999, 79999, true},
		{"R000-21 bytes", "guard", "big-output", 128000, 16384, 103424, 12288, false},
		{"R002-4 bytes", "layered", "offload-result", 100000, 0, 95904, 4096, false},
		{"R002-9 compact", "layered", "compact-clear", 100000, 0, 95904, 91108, false},
		{"R002-9 compact, later rung", "layered", "compact-truncate", 100000, 0, 95904, 91108, false},
		{"R002-10 block", "layered", "block-clear", 100000, 0, 95904, 93985, false},
		{"R002-10 block, later rung", "layered", "block-truncate", 100000, 0, 95904, 93985, false},
		{"R002-23 note", "layered", "tell-model", 100000, 0, 95904, 76723, false},
		{"R003-7 messages", "turn-budget", "many-messages", 131072, 32768, 98304, 20, false},
		{"R003-7 history", "turn-budget", "long-history", 131072, 32768, 98304, 98304, false},
		{"R003-7 history of the whole window", "turn-budget", "long-history", 128000, 8192, 119808, 96000, false},
		{"R003-8 proactive", "turn-budget", "would-not-fit", 128000, 8192, 119808, 119808, false},
		{"batch", "balanced", "batch", 128000, 0, 87808, 86051, false},
		{"must", "balanced", "must-batch", 128000, 0, 87808, 87808, false},
	} {
		t.Run(c.preset+"/"+c.id, func(t *testing.T) {
			p := preset(t, c.preset)
			w := window(t, p, c.capacity, c.output)
			if w.Limit() != c.limit {
				t.Errorf("limit = %d, want %d", w.Limit(), c.limit)
			}
			when := rule(t, p, c.rule).When
			if got := when.Threshold(w); got != c.at {
				t.Errorf("threshold = %d, want %d", got, c.at)
			}
			below, equal, above := when.Holds(c.at-1, w), when.Holds(c.at, w), when.Holds(c.at+1, w)
			if below || equal != c.equal || !above {
				t.Errorf("below, equal, above = %v, %v, %v, want false, %v, true", below, equal, above, c.equal)
			}
		})
	}
}

func TestWindowRules(t *testing.T) {
	for _, c := range []struct {
		id, preset       string
		capacity, output int
		want             budget.Window
		limit            int
	}{
		{"R000-6 worked example", "guard", 128000, 16384, budget.Window{Capacity: 128000, Buffer: 8192, OutputReserve: 16384}, 103424},
		{"R000-7 output unset", "guard", 128000, 0, budget.Window{Capacity: 128000, Buffer: 8192, OutputReserve: 32000}, 87808},
		{"R000-7 rounded down", "guard", 131071, 0, budget.Window{Capacity: 131071, Buffer: 8192, OutputReserve: 32767}, 90112},
		{"R001-13 nothing subtracted", "cache-compact", 128000, 16384, budget.Window{Capacity: 128000}, 128000},
		{"R002-2 effective window", "layered", 100000, 0, budget.Window{Capacity: 100000, OutputReserve: 4096}, 95904},
		{"R002-25 output stated", "layered", 100000, 8192, budget.Window{Capacity: 100000, OutputReserve: 8192}, 91808},
		{"R003-2 output stated", "turn-budget", 128000, 8192, budget.Window{Capacity: 128000, OutputReserve: 8192}, 119808},
		{"R003-3 output of the document", "turn-budget", 131072, 0, budget.Window{Capacity: 131072, OutputReserve: 32768}, 98304},
		{"window over four", "balanced", 200000, 0, budget.Window{Capacity: 200000, Buffer: 8192, OutputReserve: 50000}, 141808},
		{"nothing", "off", 200000, 64000, budget.Window{Capacity: 200000}, 200000},
	} {
		t.Run(c.preset+"/"+c.id, func(t *testing.T) {
			got := window(t, preset(t, c.preset), c.capacity, c.output)
			if got != c.want || got.Limit() != c.limit {
				t.Errorf("window = %+v with limit %d, want %+v with %d", got, got.Limit(), c.want, c.limit)
			}
		})
	}
}

func TestUnknownWindows(t *testing.T) {
	for id, want := range map[string]policy.UnknownWindow{
		"guard/R000-8":          {Action: "default", Value: 131072},
		"cache-compact/R001-13": {Action: "error"},
		"layered/R002-25":       {Action: "default", Value: 100000},
		"turn-budget/R003-3":    {Action: "output_multiple", Value: 4},
		"balanced/warns":        {Action: "default", Value: 131072, Warn: true},
	} {
		t.Run(id, func(t *testing.T) {
			name, _, _ := strings.Cut(id, "/")
			if got := preset(t, name).OnUnknownWindow; got != want {
				t.Errorf("on_unknown_window = %+v, want %+v", got, want)
			}
		})
	}
}

func TestPresetNumbers(t *testing.T) {
	args := func(name, r string) policy.Args { return rule(t, preset(t, name), r).Args }
	for _, c := range []struct {
		id        string
		got, want any
	}{
		{"R000-18 estimator", preset(t, "guard").Estimator, "max(model,chars/4)"},
		{"R000-20 tools", preset(t, "guard").ToolsPermille, 2090},
		{"R000-14 final tool", preset(t, "guard").FinalTool, "agent__final_report"},
		{"R000-17 sent over the limit", preset(t, "guard").OnFloor, "send"},
		{"R000-11 all targets blocked", rule(t, preset(t, "guard"), "no-room").When, policy.Condition{Measure: "guard", Op: ">=", Value: 2}},
		{"R000-13 output without room", rule(t, preset(t, "guard"), "output-without-room").Do, policy.DoOffload},
		{"R001-1 cut", args("cache-compact", "cut-output"), policy.Args{Template: "cap", LineLength: 2000, Bytes: 51200}},
		{"R001-2 estimator", preset(t, "cache-compact").Estimator, "bytes/4"},
		{"R001-6 the newest too", preset(t, "cache-compact").Tail, policy.Tail{}},
		{"R001-12 usage", rule(t, preset(t, "cache-compact"), "compact").When.Measure, policy.MeasureUsage},
		{"R001-15 unchanged on error", preset(t, "cache-compact").OnSummaryError, "keep"},
		{
			"R001-11 R001-19 last Turn", args("cache-compact", "compact"),
			policy.Args{Template: "summary", Keep: policy.Tail{Unit: "turns", N: 1}, Retain: true},
		},
		{"R001-19 slot", preset(t, "cache-compact").SummarySlot, "user_messages"},
		{"R002-3 estimator", preset(t, "layered").Estimator, "bytes/4+10"},
		{"R002-4 errors stay", args("layered", "offload-result").Errors, false},
		{"R002-6 first 200 chars", args("layered", "offload-result").Chars, 200},
		{"R002-11 clearing", args("layered", "compact-clear"), policy.Args{Template: "clear", Bytes: 1024, Permille: 500, Errors: true}},
		{"R002-11 summary", args("layered", "compact-summarise"), policy.Args{Template: "summary", Permille: 600, Min: 20}},
		{"R002-11 truncation", args("layered", "compact-truncate"), policy.Args{Template: "drop", Min: 2}},
		{"R002-11 next strategy", preset(t, "layered").OnSummaryError, "next"},
		{"R002-10 forced", rule(t, preset(t, "layered"), "block-clear").Forced, true},
		{"R003-11 estimator", preset(t, "turn-budget").Estimator, "runes*2/5"},
		{
			"R003-7 last four", args("turn-budget", "many-messages"),
			policy.Args{Template: "summary", Keep: policy.Tail{Unit: "messages", N: 4}, Background: true},
		},
		{"R003-7 slot", preset(t, "turn-budget").SummarySlot, "section"},
		{"R003-7 fallback", preset(t, "turn-budget").OnSummaryError, "fallback"},
		{"R003-9 half of the Turns", args("turn-budget", "was-rejected"), policy.Args{Template: "drop", Permille: 500}},
		{"R003-9 always", rule(t, preset(t, "turn-budget"), "was-rejected").When.Always(), true},
		{"law 8 pins", preset(t, "balanced").Pins, []string{"first_human", "last_human", "rules"}},
		{"balanced low water", preset(t, "balanced").LowWater, 140},
		{"balanced first batch", preset(t, "balanced").FirstBatch, 320},
		{"balanced tail", preset(t, "balanced").Tail, policy.Tail{Unit: "rounds", N: 1}},
		{"balanced order", preset(t, "balanced").Order, policy.OrderReference},
		{"balanced economy", preset(t, "balanced").Economy, policy.Economy{Horizon: 30, Write: 1250, Read: 100}},
		{"balanced dedup", args("balanced", "repeated-lines"), policy.Args{Template: "dedup", Lines: 4, Chars: 60}},
		{"balanced gain", preset(t, "balanced").MinimumGain, policy.Gain{Tokens: 60, Permille: 150}},
		{"balanced cap", args("balanced", "huge-output").Permille, 250},
		{"off has no rules", len(preset(t, "off").Rules), 0},
	} {
		t.Run(c.id, func(t *testing.T) {
			if !reflect.DeepEqual(c.got, c.want) {
				t.Errorf("got %+v, want %+v", c.got, c.want)
			}
		})
	}
}

// A summary says at least 20 tokens, or half a percent of what it stands for, of which
// 200 are enough. Every preset has it so, as each can be compacted by hand.
func TestMinimumSummary(t *testing.T) {
	for _, name := range policy.Presets() {
		least := preset(t, name).MinimumSummary
		for _, c := range []struct{ covered, want int }{{0, 20}, {4199, 20}, {4200, 21}, {20_000, 100}, {40_000, 200}, {1_000_000, 200}} {
			if got := least.Of(c.covered); got != c.want {
				t.Errorf("%s: a summary of %d tokens has at least %d, want %d", name, c.covered, got, c.want)
			}
		}
	}
	if got := (policy.Least{Tokens: 3, Permille: 100}).Of(9_000); got != 900 {
		t.Errorf("without most: %d, want 900", got)
	}
}

// Each preset asks for a summary in its own words; those that ask nobody by themselves
// ask as balanced does, when a person wants a summary.
func TestQuestions(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"cache-compact", "layered", "turn-budget", "balanced"} {
		p := preset(t, name)
		if other, ok := seen[p.SummaryPrompt]; ok {
			t.Errorf("%s asks as %s does", name, other)
		}
		seen[p.SummaryPrompt] = name
	}
	for _, name := range []string{"off", "guard"} {
		if seen[preset(t, name).SummaryPrompt] != "balanced" {
			t.Errorf("%s asks %q", name, preset(t, name).SummaryPrompt)
		}
	}
	p := preset(t, "cache-compact")
	for _, word := range []string{"decided", "done", "constraints", "next"} {
		if !strings.Contains(p.SummaryPrompt, word) {
			t.Errorf("R001-11: %q is missing in %q", word, p.SummaryPrompt)
		}
	}
	for _, word := range []string{"references", "paths", "identifiers", "commands", "TODOs", "decisions"} {
		if !strings.Contains(p.RetainPrompt, word) {
			t.Errorf("R001-11: %q is missing in %q", word, p.RetainPrompt)
		}
	}
}

// What the rungs of layered do, and in which order: a blocked call first, then
// clearing, summary, truncation, and the note last (R002-11, R002-24).
func TestLayeredOrder(t *testing.T) {
	var got []string
	for _, r := range preset(t, "layered").Rules {
		if r.At == policy.AtPrepare {
			got = append(got, string(r.Do))
		}
	}
	want := []string{"clear", "summarise", "truncate", "clear", "summarise", "truncate", "note"}
	if !slices.Equal(got, want) {
		t.Errorf("R002-11 R002-24: rungs %q, want %q", got, want)
	}
}

// turn-budget's paths in the order in which they are preferred: in the background when a
// Turn has ended, before a call, after a refusal.
func TestTurnBudgetOrder(t *testing.T) {
	t.Run("R003-10_paths_in_their_order", func(t *testing.T) {
		var got []policy.Moment
		for _, r := range preset(t, "turn-budget").Rules {
			if len(got) == 0 || got[len(got)-1] != r.At {
				got = append(got, r.At)
			}
			if r.Args.Background != (r.At == policy.AtTurnEnd) {
				t.Errorf("rule %s at %s: background %v", r.Name, r.At, r.Args.Background)
			}
		}
		if want := []policy.Moment{policy.AtTurnEnd, policy.AtPrepare, policy.AtRejected}; !slices.Equal(got, want) {
			t.Errorf("want %q, got %q", want, got)
		}
	})
}

func TestTemplates(t *testing.T) {
	v := edit.Values{
		Ref: llm.RefOf([]byte("output")), Tool: "shell_exec", Bytes: 48231, Lines: 1200, Tokens: 12057, N: 14, Used: 83,
		Preview: "go: downloading example.org/mod v1.9.0",
	}
	ref := string(v.Ref)
	for _, c := range []struct{ id, preset, text, want string }{
		{"R001-5", "cache-compact", policy.TemplateCap, "\n\n[tool output truncated; ref=" + ref + "]"},
		{"R001-6", "cache-compact", policy.TemplateTrim, "[tool output trimmed; ref=" + ref + "]"},
		{
			"R002-6", "layered", policy.TemplateOffload,
			"[Tool result stored — 48,231 bytes from \"shell_exec\".\n" +
				"First 200 chars: go: downloading example.org/mod v1.9.0...]\n" +
				"Use the \"read_result\" tool with ref_id=\"" + ref + "\" to read specific portions.",
		},
		{"R002-11 clear", "layered", policy.TemplateClear, "[Tool result cleared — was 48231 bytes]"},
		{"R002-11 summary", "layered", policy.TemplateSummary, "[Summary of 14 earlier messages]"},
		{
			"R002-23", "layered", policy.TemplateStatus,
			"[Context: 83% used. You can call compact_context to free space before continuing with large operations.]",
		},
		{"R003-9", "turn-budget", policy.TemplateDrop, "[Emergency compression dropped 14 oldest messages due to context limit]"},
	} {
		t.Run(c.preset+"/"+c.id, func(t *testing.T) {
			if got := edit.Fill(named(preset(t, c.preset).Templates[c.text]), v); got != c.want {
				t.Errorf("text:\n got %q\nwant %q", got, c.want)
			}
		})
	}
}

// named returns a text as it stands where all tools are offered.
func named(text string) string {
	text, _ = policy.Naming(text, func(tool string) string { return tool })
	return text
}

// R000-21: a handle says how big the output is and how to get at it.
func TestHandle(t *testing.T) {
	v := edit.Values{Ref: llm.RefOf(nil), Tool: "read", Bytes: 13001, Lines: 402, Tokens: 3251}
	got := edit.Fill(named(preset(t, "guard").Templates[policy.TemplateOffload]), v)
	for _, want := range []string{"13001 bytes", "402 lines", "3251 tokens", `tool_output(handle="` + string(v.Ref) + `", extract=`} {
		if !strings.Contains(got, want) {
			t.Errorf("R000-21: handle %q, want %q in it", got, want)
		}
	}
	if strings.ContainsAny(got, "{}") {
		t.Errorf("R000-21: handle %q has a brace left", got)
	}
}

// Every brace in a preset's texts is one that core/edit fills.
func TestPlaceholdersAreFilled(t *testing.T) {
	for _, name := range policy.Presets() {
		for key, text := range preset(t, name).Templates {
			if got := edit.Fill(named(text), edit.Values{}); strings.ContainsAny(got, "{}") {
				t.Errorf("%s: %s leaves a brace: %q", name, key, got)
			}
		}
	}
}
