package budget_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// target has a limit of n.
func target(name string, n int) budget.Target {
	return budget.Target{Provider: "p", Model: name, Window: budget.Window{Capacity: n + 300, Buffer: 100, OutputReserve: 200}}
}

func TestProjection(t *testing.T) {
	var g budget.Guard
	g.TurnStart(2_000)
	g.SetSchema(3_000)
	g.SetReasoning(700)
	g.AddFresh(400)
	t.Run("R000-3 current + pending + new + extra, without schema", func(t *testing.T) {
		p := g.Project(50)
		if p.Base != 2_450 || p.WithSchema != 5_450 {
			t.Errorf("projection = %+v, want 2450 and 5450", p)
		}
	})
	t.Run("R000-1 the counters", func(t *testing.T) {
		want := budget.Counters{Pending: 2_000, Fresh: 400, Schema: 3_000, Reasoning: 700}
		if g.Counters() != want {
			t.Errorf("counters = %+v, want %+v", g.Counters(), want)
		}
	})
	t.Run("R000-1 reasoning is in no projection", func(t *testing.T) {
		before := g.Project(0)
		g.SetReasoning(1_000_000)
		if g.Project(0) != before {
			t.Errorf("projection = %+v, want %+v", g.Project(0), before)
		}
	})
}

func TestMoments(t *testing.T) {
	var g budget.Guard
	check := func(name string, want budget.Counters) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			t.Helper()
			if g.Counters() != want {
				t.Errorf("counters = %+v, want %+v", g.Counters(), want)
			}
		})
	}
	g.SetSchema(900)
	g.TurnStart(5_000)
	check("R000-2 the seed conversation is pending", budget.Counters{Pending: 5_000, Schema: 900})
	g.BeginRequest()
	check("R000-2 a call commits what waits", budget.Counters{Current: 5_000, Schema: 900})
	g.BeginRequest()
	check("R000-2 a retry counts nothing twice", budget.Counters{Current: 5_000, Schema: 900})
	if g.Commit(llm.Usage{}) || g.Commit(llm.Usage{Output: 7}) {
		t.Error("a usage without a prompt was committed")
	}
	check("R000-2 an error with 0 tokens wipes nothing", budget.Counters{Current: 5_000, Schema: 900})
	g.AddFresh(30) // arrived while the call was on its way
	if !g.Commit(llm.Usage{Input: 100, CacheRead: 4_000, CacheWrite5m: 2_000, CacheWrite1h: 50, Output: 350}) {
		t.Error("a usage was not committed")
	}
	check("R000-2 cached input counts; what came since stays", budget.Counters{Current: 6_500, Fresh: 30, Schema: 900})
	t.Run("R000-3 schema is within the current count after a call", func(t *testing.T) {
		if p := g.Project(0); p.Base != 6_530 || p.WithSchema != 6_530 {
			t.Errorf("projection = %+v, want 6530 twice", p)
		}
		g.SetSchema(1_000)
		if p := g.Project(0); p.WithSchema != 6_630 {
			t.Errorf("projection with 100 more of schema = %+v, want 6630", p)
		}
		g.SetSchema(200)
		if p := g.Project(0); p.WithSchema != 6_530 {
			t.Errorf("projection with less schema = %+v, want 6530 until a call reports less", p)
		}
	})
	g.AddFresh(470)
	check("R000-2 fresh accumulates", budget.Counters{Current: 6_500, Fresh: 500, Schema: 200})
	g.TurnStart(80)
	check("R000-2 a Turn's message is pending", budget.Counters{Current: 6_500, Pending: 80, Fresh: 500, Schema: 200})
	if !g.Enforce() || g.Enforce() {
		t.Error("the final Step is forced once")
	}
	check("R000-14 enforcement commits pending and fresh", budget.Counters{Current: 7_080, Schema: 200})
	g.Rebase(1_200)
	check("an edit sets the count", budget.Counters{Current: 1_200, Schema: 200})
	g.Restore(budget.GuardState{Pending: 10, Schema: 200})
	check("law 4: a session that is taken up", budget.Counters{Pending: 10, Schema: 200})
	g.Commit(llm.Usage{Input: 60, Output: 5})
	check("R000-2 a commit without a begun call takes everything", budget.Counters{Current: 65, Schema: 200})
}

func TestEvaluate(t *testing.T) {
	tests := []struct {
		name    string
		used    int
		targets []budget.Target
		want    budget.Decision
		next    int
		entries []budget.Decision
	}{
		{"R000-4 below the limit", 999, []budget.Target{target("a", 1000)}, budget.OK, 0, []budget.Decision{budget.OK}},
		{"R000-4 at the limit", 1000, []budget.Target{target("a", 1000)}, budget.OK, 0, []budget.Decision{budget.OK}},
		{"R000-4 above the limit", 1001, []budget.Target{target("a", 1000)}, budget.Final, -1, []budget.Decision{budget.Final}},
		{"R000-11 another target is full", 1001, []budget.Target{target("a", 5000), target("b", 1000)}, budget.OK, 0, []budget.Decision{budget.OK, budget.Skip}},
		{"R000-11 skip to the next provider", 1001, []budget.Target{target("a", 1000), target("b", 5000)}, budget.Skip, 1, []budget.Decision{budget.Skip, budget.OK}},
		{"R000-11 skip two", 1001, []budget.Target{target("a", 1000), target("b", 900), target("c", 1001)}, budget.Skip, 2, []budget.Decision{budget.Skip, budget.Skip, budget.OK}},
		{"R000-11 all are full", 6000, []budget.Target{target("a", 1000), target("b", 5000)}, budget.Final, -1, []budget.Decision{budget.Final, budget.Final}},
		{"R000-6 a limit of 0 blocks", 0, []budget.Target{target("a", 0)}, budget.Final, -1, []budget.Decision{budget.Final}},
		{"R000-6 a negative limit blocks", 0, []budget.Target{target("a", -50), target("b", 10)}, budget.Skip, 1, []budget.Decision{budget.Skip, budget.OK}},
		{"no target", 0, nil, budget.Final, -1, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var g budget.Guard
			g.TurnStart(tt.used - tt.used/3)
			v := g.Evaluate(nil, tt.targets, tt.used/3)
			if v.Decision != tt.want || v.Next != tt.next || v.Base != tt.used {
				t.Errorf("verdict %v, next %d, base %d, want %v, %d, %d", v.Decision, v.Next, v.Base, tt.want, tt.next, tt.used)
			}
			if len(v.Entries) != len(tt.entries) {
				t.Fatalf("%d entries, want %d", len(v.Entries), len(tt.entries))
			}
			for i, e := range v.Entries {
				if e.Decision != tt.entries[i] || e.Blocked != (tt.entries[i] != budget.OK) || e.Target != tt.targets[i] || e.Limit != tt.targets[i].Window.Limit() {
					t.Errorf("entry %d = %+v, want %v", i, e, tt.entries[i])
				}
			}
		})
	}
}

func TestSchemaOnly(t *testing.T) {
	var g budget.Guard
	g.TurnStart(900)
	g.SetSchema(200)
	targets := []budget.Target{target("a", 1000)}
	t.Run("R000-12 only the schema overflows", func(t *testing.T) {
		v := g.Evaluate(nil, targets, 0)
		if v.Decision != budget.OK || v.WithSchema != 1100 || !v.Entries[0].SchemaOnly || v.Entries[0].Blocked {
			t.Errorf("verdict %+v", v)
		}
	})
	t.Run("R000-12 the base overflows too", func(t *testing.T) {
		v := g.Evaluate(nil, targets, 101)
		if v.Decision != budget.Final || v.Entries[0].SchemaOnly {
			t.Errorf("verdict %+v", v)
		}
	})
}

func TestToolBudget(t *testing.T) {
	var g budget.Guard
	targets := []budget.Target{target("a", 1000), target("b", 2000)}
	g.TurnStart(500)
	t.Run("R000-22 a preview reserves nothing", func(t *testing.T) {
		if !g.Preview(targets, 1500) || g.Preview(targets, 1501) || g.Project(0).Base != 500 || !g.CanExecute() {
			t.Errorf("base %d, can execute: %v", g.Project(0).Base, g.CanExecute())
		}
	})
	t.Run("R000-22 a reservation counts once", func(t *testing.T) {
		g.Hold(1000)
		if g.Preview(targets, 501) || g.Reserved() != 1000 || g.Project(0).Base != 1500 {
			t.Errorf("reserved %d, base %d, want 1000 and 1500", g.Reserved(), g.Project(0).Base)
		}
	})
	t.Run("R000-3 what is reserved is extra, in no counter", func(t *testing.T) {
		if want := (budget.Counters{Pending: 500}); g.Counters() != want {
			t.Errorf("counters %+v, want %+v", g.Counters(), want)
		}
	})
	t.Run("R000-13 R000-23 overflow ends the Turn's tools", func(t *testing.T) {
		g.Exceed()
		if g.Reserved() != 1000 || g.CanExecute() || !g.Exceeded() {
			t.Errorf("reserved %d, can execute: %v", g.Reserved(), g.CanExecute())
		}
	})
	t.Run("an output that came is counted once", func(t *testing.T) {
		g.Release(1000)
		g.AddFresh(900)
		if g.Reserved() != 0 || g.Project(0).Base != 1400 {
			t.Errorf("reserved %d, base %d, want 0 and 1400", g.Reserved(), g.Project(0).Base)
		}
		g.Release(7)
		if g.Reserved() != 0 {
			t.Errorf("reserved %d after more was released than held", g.Reserved())
		}
	})
	t.Run("R000-23 the next Turn may run tools again", func(t *testing.T) {
		g.TurnStart(0)
		if !g.CanExecute() {
			t.Error("no tool may run")
		}
	})
	t.Run("R000-14 none after the final Step was forced", func(t *testing.T) {
		g.Enforce()
		if g.CanExecute() {
			t.Error("tools may run")
		}
	})
}

// Law 10: the conversation's counters fall only by a commit or an edit. R000-5.
func TestGuardIsMonotonic(t *testing.T) {
	amount := rapid.OneOf(rapid.IntRange(-100, 100_000), rapid.SampledFrom([]int{math.MinInt, math.MaxInt}))
	rapid.Check(t, func(t *rapid.T) {
		var g budget.Guard
		g.TurnStart(amount.Draw(t, "seed"))
		targets := []budget.Target{target("a", 50_000), target("b", 100_000)}
		base := g.Project(0).Base
		grows := func(t *rapid.T, by int) {
			got := g.Project(0).Base
			if got != min(base+min(max(by, 0), 1<<40), 1<<40) {
				t.Fatalf("base %d + %d became %d", base, by, got)
			}
			base = got
		}
		t.Repeat(map[string]func(*rapid.T){
			"turn":      func(t *rapid.T) { n := amount.Draw(t, "n"); g.TurnStart(n); grows(t, n) },
			"fresh":     func(t *rapid.T) { n := amount.Draw(t, "n"); g.AddFresh(n); grows(t, n) },
			"begin":     func(t *rapid.T) { g.BeginRequest(); grows(t, 0) },
			"schema":    func(t *rapid.T) { g.SetSchema(amount.Draw(t, "n")); grows(t, 0) },
			"reasoning": func(t *rapid.T) { g.SetReasoning(amount.Draw(t, "n")); grows(t, 0) },
			"enforce":   func(t *rapid.T) { g.Enforce(); grows(t, 0) },
			"preview":   func(t *rapid.T) { g.Preview(targets, amount.Draw(t, "n")); grows(t, 0) },
			"reserve": func(t *rapid.T) {
				n := amount.Draw(t, "n")
				if g.Preview(targets, n) {
					g.Hold(n)
					grows(t, n)
				}
				grows(t, 0)
			},
			"release": func(t *rapid.T) {
				n := amount.Draw(t, "n")
				counters := g.Counters()
				g.Release(n)
				if g.Counters() != counters {
					t.Fatalf("counters %+v became %+v by a release", counters, g.Counters())
				}
				base = g.Project(0).Base
			},
			"edited": func(t *rapid.T) {
				n := rapid.IntRange(-100_000, 100_000).Draw(t, "n")
				was := g.Counters()
				g.Edited(n)
				now := g.Counters()
				sum := func(c budget.Counters) int { return c.Current + c.Pending + c.Fresh }
				if want := min(max(sum(was)+n, 0), 1<<40); sum(now) != want && sum(was) < 1<<39 {
					t.Fatalf("%+v edited by %d became %+v", was, n, now)
				}
				if now.Fresh > 0 && n < 0 && (now.Current != was.Current || now.Pending != was.Pending) {
					t.Fatalf("%+v edited by %d became %+v: newer content gives way first", was, n, now)
				}
				base = g.Project(0).Base
			},
			"failed commit": func(t *rapid.T) { g.Commit(llm.Usage{Output: 5}); grows(t, 0) },
			"commit": func(t *rapid.T) {
				n := rapid.IntRange(1, 100_000).Draw(t, "n")
				g.BeginRequest()
				g.AddFresh(7)
				g.Commit(llm.Usage{Input: n})
				if base = g.Project(0).Base; base != min(n+7+g.Reserved(), 1<<40) {
					t.Fatalf("base after a commit of %d and 7 fresh = %d", n, base)
				}
			},
			"rebase": func(t *rapid.T) {
				n := rapid.IntRange(0, 100_000).Draw(t, "n")
				g.Rebase(n)
				if base = g.Project(0).Base; base != min(n+g.Reserved(), 1<<40) {
					t.Fatalf("base after an edit to %d = %d", n, base)
				}
			},
			"": func(t *rapid.T) {
				extra := amount.Draw(t, "extra")
				v := g.Evaluate(nil, targets, extra)
				fits := 0
				for _, e := range v.Entries {
					if e.Blocked != (v.Base > e.Limit) || e.SchemaOnly != (v.Base <= e.Limit && v.WithSchema > e.Limit) {
						t.Fatalf("entry %+v of %+v", e, v.Projection)
					}
					if !e.Blocked {
						fits++
					}
				}
				if (v.Decision == budget.Final) != (fits == 0) || (v.Decision == budget.OK) == v.Entries[0].Blocked || v.WithSchema < v.Base {
					t.Fatalf("verdict %+v", v)
				}
			},
		})
	})
}

func TestEvaluateDoesNotAllocate(t *testing.T) {
	var g budget.Guard
	g.TurnStart(1500)
	targets, entries := eight()
	if n := testing.AllocsPerRun(100, func() { entries = g.Evaluate(entries, targets, 10).Entries }); n != 0 {
		t.Errorf("Evaluate allocates %v times for 8 targets, want 0", n)
	}
}

func eight() ([]budget.Target, []budget.Entry) {
	var targets []budget.Target
	for i := range 8 {
		targets = append(targets, target("m", 1000+i*200))
	}
	return targets, make([]budget.Entry, 0, 8)
}

func BenchmarkEvaluate(b *testing.B) {
	var g budget.Guard
	g.TurnStart(1500)
	targets, entries := eight()
	b.ReportAllocs()
	for b.Loop() {
		entries = g.Evaluate(entries, targets, 10).Entries
	}
}

// TestWithdrawnEdits: taken back, edits have left no trace, whatever came between them.
func TestWithdrawnEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var edited, plain budget.Guard
		amount := rapid.IntRange(0, 50_000)
		both := func(f func(*budget.Guard)) { f(&edited); f(&plain) }
		t.Repeat(map[string]func(*rapid.T){
			"turn":  func(t *rapid.T) { n := amount.Draw(t, "n"); both(func(g *budget.Guard) { g.TurnStart(n) }) },
			"fresh": func(t *rapid.T) { n := amount.Draw(t, "n"); both(func(g *budget.Guard) { g.AddFresh(n) }) },
			"begin": func(t *rapid.T) { both((*budget.Guard).BeginRequest) },
			"commit": func(t *rapid.T) {
				n := amount.Draw(t, "n")
				both(func(g *budget.Guard) { g.Commit(llm.Usage{Input: n}) })
			},
			"rebase": func(t *rapid.T) { n := amount.Draw(t, "n"); both(func(g *budget.Guard) { g.Rebase(n) }) },
			"edited": func(t *rapid.T) { edited.Edited(rapid.IntRange(-100_000, 100_000).Draw(t, "n")) },
			"kept": func(t *rapid.T) {
				edited.Kept()
				plain = edited
			},
			"withdrawn": func(t *rapid.T) {
				edited.Withdrawn()
				if edited.Counters() != plain.Counters() {
					t.Fatalf("counters %+v, want what they are without edits, %+v", edited.Counters(), plain.Counters())
				}
			},
		})
	})
}

// TestTargetNamed: a target's name leads back to it.
func TestTargetNamed(t *testing.T) {
	for _, want := range []budget.Target{
		{Provider: "openai", Model: "gpt-4o"},
		{Provider: "openrouter", Model: "anthropic/claude-sonnet-4-5"},
		{Model: "mystery"},
		{Model: "anthropic/claude-sonnet-4-5"},
	} {
		if got := budget.TargetNamed(want.Name(), want.Model); got != want {
			t.Errorf("%s of model %s: want %+v, got %+v", want.Name(), want.Model, want, got)
		}
		if got := budget.TargetNamed(want.Name(), ""); got.Name() != want.Name() {
			t.Errorf("%s: got %+v, which is named %s", want.Name(), got, got.Name())
		}
	}
}
