package plimsoll_test

import (
	"encoding/json"
	"fmt"
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
	"github.com/plimsoll-dev/plimsoll/store"
)

// manyTools returns two tools of the program's own, then three of a skill and thirty of a
// server, each of which takes some 150 tokens.
func manyTools() []llm.Tool {
	tools := []llm.Tool{{Name: "read"}, {Name: "bash"}}
	about := strings.Repeat("with care, and as it is done at sea ", 16)
	for i := range 3 {
		tools = append(tools, llm.Tool{Name: fmt.Sprintf("rig_%d", i), Description: "Rigs mast " + about, Kind: llm.ToolOfSkill})
	}
	for i := range 30 {
		tools = append(tools, llm.Tool{Name: fmt.Sprintf("port__dock_%d", i), Description: fmt.Sprintf("Docks at quay number %d, %s", i, about), Kind: llm.ToolOfServer})
	}
	return tools
}

// deferring returns options in whose window two thousand tokens of tools have room.
func deferring(t *testing.T, name string) plimsoll.Options {
	t.Helper()
	p := preset(t, name)
	p.Window = policy.WindowRule{}
	w := budget.Window{Capacity: 20_000}
	return plimsoll.Options{ID: "a", Store: &store.Memory{}, Policy: p, Targets: []budget.Target{{Provider: "a", Model: "gpt-4o", Window: w}}}
}

func began(t *testing.T, o plimsoll.Options, tools []llm.Tool) *plimsoll.Session {
	t.Helper()
	s := open(t, o)
	if err := s.SetTools(t.Context(), tools); err != nil {
		t.Fatal(err)
	}
	add(t, s, human("Go."))
	return s
}

// noteOf returns the notes about tools in a request.
func toolNotes(r *engine.Send) []string {
	var out []string
	for _, m := range r.Messages() {
		if m.Origin == llm.Note && strings.Contains(m.Text(), "tool") {
			out = append(out, m.Text())
		}
	}
	return out
}

func calling(id, tool, args string) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: id, Name: tool, Args: args}}}
}

func gaveBack(id string) llm.Message {
	return llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: "Done."}}}}}
}

// ask has the model call tool_search, which the session answers.
func searching(t *testing.T, s *plimsoll.Session, id, query string) string {
	t.Helper()
	m := calling(id, policy.ToolSearch, fmt.Sprintf(`{"query":%q}`, query))
	add(t, s, m)
	if served, err := s.Builtin(t.Context(), m.Calls()[0]); !served || err != nil {
		t.Fatalf("want it served, got %v, %v", served, err)
	}
	all := s.Messages()
	return all[len(all)-1].Results()[0].Text()
}

func TestManyTools(t *testing.T) {
	for _, c := range []struct{ policy, note string }{
		{"layered", "[%d tools deferred to save context. Use tool_search to find them.]"},
		{"balanced", "[%d tools are left out to save room. tool_search finds them by what they do.]"},
	} {
		t.Run(c.policy, func(t *testing.T) {
			s := began(t, deferring(t, c.policy), manyTools())
			first := prepare(t, s)
			got := names(first.Request().Tools)
			n := 35 - (len(got) - len(first.Request().Tools) + len(slices.DeleteFunc(slices.Clone(got), func(n string) bool { return n[0] == '[' })))
			t.Run("R002-15_above_a_tenth_of_the_window", func(t *testing.T) {
				if want := []string{"read", "bash", "rig_0", "rig_1", "rig_2", "port__dock_0"}; !slices.Equal(got[:6], want) {
					t.Errorf("want it to begin with %q, got %q", want, got)
				}
				if !slices.Contains(got, "[tool_search]") || slices.Contains(got, "port__dock_29") {
					t.Errorf("want the last ones left out, and the tool that finds them, got %q", got)
				}
				if u := s.Usage(); u.Parts.Tools > u.Limit/10 || u.Parts.Tools < u.Limit/20 {
					t.Errorf("want tools of nearly a tenth of %d, got %d", u.Limit, u.Parts.Tools)
				}
			})
			t.Run("R002-17_a_note_says_how_many", func(t *testing.T) {
				if diff := cmp.Diff([]string{fmt.Sprintf(c.note, n)}, toolNotes(first)); diff != "" {
					t.Errorf("- want, + got\n%s", diff)
				}
			})
			t.Run("R002-27_by_where_they_come_from", func(t *testing.T) {
				shares := s.Usage().Tools
				if len(shares) != 3 || shares[0].LeftOut > 0 || shares[1].Kind != llm.ToolOfSkill || shares[1].Offered != 3 || shares[2].LeftOut != n || shares[2].LeftOutTokens == 0 {
					t.Errorf("got %+v", shares)
				}
			})
			t.Run("R002-16_what_is_found_is_offered", func(t *testing.T) {
				answer := searching(t, s, "c1", "dock at quay 25")
				if !strings.HasPrefix(answer, "port__dock_25\nDocks at quay number 25, ") {
					t.Errorf("got %.200q", answer)
				}
				second := prepare(t, s)
				now := names(second.Request().Tools)
				if !slices.Equal(now[:len(got)], got) || now[len(got)] != "port__dock_25" {
					t.Errorf("want the same and behind them what was found, got %q", now)
				}
				if diff := cmp.Diff(first.Request().Tools, second.Request().Tools[:len(got)]); diff != "" {
					t.Errorf("- before, + after\n%s", diff)
				}
			})
		})
	}
}

// What was found is offered for the Turn under layered, and from then on under balanced; a
// tool that was called lately stays before others.
func TestManyToolsUntil(t *testing.T) {
	for name, stays := range map[string]bool{"layered": false, "balanced": true} {
		t.Run("R002-16_"+name, func(t *testing.T) {
			s := began(t, deferring(t, name), manyTools())
			prepare(t, s)
			searching(t, s, "c1", "port__dock_25")
			searching(t, s, "c2", "port__dock_27")
			before := names(prepare(t, s).Request().Tools)
			add(t, s, calling("c3", "port__dock_25", "{}"), gaveBack("c3"))
			if now := names(prepare(t, s).Request().Tools); !slices.Equal(now, before) {
				t.Errorf("within the Turn: want %q, got %q", before, now)
			}
			add(t, s, reply("Done."), human("And on."))
			next := prepare(t, s)
			now := names(next.Request().Tools)
			if got := slices.Contains(now, "port__dock_27"); got != stays {
				t.Errorf("in the next Turn one that was found stays: want %v, got %q", stays, now)
			}
			if !slices.Contains(now, "port__dock_25") {
				t.Errorf("want the one that was called, got %q", now)
			}
			if stays != slices.Equal(now, before) {
				t.Errorf("the same tools: want %v, got %q", stays, now)
			}
			if n := len(toolNotes(next)); n != 1 {
				t.Errorf("want one note, got %d", n)
			}
		})
	}
}

func TestManyToolsCalledByName(t *testing.T) {
	s := began(t, deferring(t, "balanced"), manyTools())
	before := names(prepare(t, s).Request().Tools)
	m := calling("c1", "port__dock_29", "{}")
	add(t, s, m)
	if served, err := s.Builtin(t.Context(), m.Calls()[0]); served || err != nil {
		t.Errorf("want the call to be the host's, got %v, %v", served, err)
	}
	add(t, s, gaveBack("c1"))
	if now := names(prepare(t, s).Request().Tools); !slices.Equal(now, append(before, "port__dock_29")) {
		t.Errorf("want it offered from then on, got %q", now)
	}
}

// A restart at any moment sends what would have been sent without one.
func TestManyToolsAfterRestart(t *testing.T) {
	for _, name := range []string{"layered", "balanced"} {
		steps := []func(t *testing.T, s *plimsoll.Session){
			func(t *testing.T, s *plimsoll.Session) { prepare(t, s) },
			func(t *testing.T, s *plimsoll.Session) { searching(t, s, "c1", "port__dock_25") },
			func(t *testing.T, s *plimsoll.Session) { prepare(t, s) },
			func(t *testing.T, s *plimsoll.Session) {
				add(t, s, calling("c2", "port__dock_29", "{}"), gaveBack("c2"))
			},
			func(t *testing.T, s *plimsoll.Session) {
				more := append(manyTools()[1:], llm.Tool{Name: "new"}, llm.Tool{Name: "port__new", Kind: llm.ToolOfServer})
				if err := s.SetTools(t.Context(), more); err != nil {
					t.Fatal(err)
				}
			},
			func(t *testing.T, s *plimsoll.Session) { prepare(t, s) },
			func(t *testing.T, s *plimsoll.Session) { add(t, s, reply("Done."), human("And on.")) },
		}
		for at := range len(steps) + 1 {
			t.Run(fmt.Sprintf("law4_%s_after %d", name, at), func(t *testing.T) {
				o, plain := deferring(t, name), deferring(t, name)
				s, straight := began(t, o, manyTools()), began(t, plain, manyTools())
				for i, step := range steps {
					if i == at {
						s = open(t, o)
					}
					step(t, s)
					step(t, straight)
				}
				if at == len(steps) {
					s = open(t, o)
				}
				want, got := prepare(t, straight).Request(), prepare(t, s).Request()
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("- without a restart, + with one\n%s", diff)
				}
				if !slices.Contains(names(got.Tools), "new") || slices.Contains(names(got.Tools), "read") {
					t.Errorf("want the new list's own tools, got %q", names(got.Tools))
				}
			})
		}
	}
}

// Tools of a provider's own have no name; each is offered once, also in another list.
func TestManyToolsWithoutNames(t *testing.T) {
	hosted := []llm.Tool{{Raw: llm.Raw{Data: []byte(`{"type":"web"}`)}}, {Raw: llm.Raw{Data: []byte(`{"type":"code"}`)}}}
	s := began(t, deferring(t, "balanced"), append(manyTools(), hosted...))
	prepare(t, s)
	if err := s.SetTools(t.Context(), append(append(manyTools(), llm.Tool{Name: "new"}), hosted...)); err != nil {
		t.Fatal(err)
	}
	var raws []string
	for _, tool := range prepare(t, s).Request().Tools {
		if tool.Name == "" {
			raws = append(raws, string(tool.Data))
		}
	}
	if want := []string{`{"type":"web"}`, `{"type":"code"}`}; !slices.Equal(raws, want) {
		t.Errorf("want %q, got %q", want, raws)
	}
}

// Where tools cannot be left out all are offered, and an event says why.
func TestManyToolsFailing(t *testing.T) {
	twice := append(manyTools(), llm.Tool{Name: "port__dock_29", Kind: llm.ToolOfServer})
	for name, c := range map[string]struct {
		tools  []llm.Tool
		change func(o *plimsoll.Options)
		event  string
	}{
		"R002-26_two of one name":            {twice, func(*plimsoll.Options) {}, "two are called port__dock_29"},
		"R002-26_one of them the program's":  {append(manyTools(), llm.Tool{Name: "port__dock_29"}), func(*plimsoll.Options) {}, "two are called port__dock_29"},
		"R002-26_no search allowed":          {manyTools(), func(o *plimsoll.Options) { o.Allow = func(tool string) bool { return tool != policy.ToolSearch } }, "tool_search is not offered"},
		"R002-26_none of the policy's own":   {manyTools(), func(o *plimsoll.Options) { o.WithoutTools = true }, "tool_search is not offered"},
		"no deferral":                        {manyTools(), func(o *plimsoll.Options) { o.Policy.Deferral = policy.Deferral{} }, ""},
		"all of the program's own":           {manyTools(), func(o *plimsoll.Options) { o.ToolKind = func(llm.Tool) llm.ToolKind { return llm.ToolBuiltIn } }, ""},
		"a window in which all of them fit":  {manyTools(), func(o *plimsoll.Options) { o.Targets[0].Window.Capacity = 200_000 }, ""},
		"a policy that does not have search": {manyTools(), func(o *plimsoll.Options) { o.Policy.Tools = o.Policy.Tools[:2] }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := deferring(t, "balanced")
			c.change(&o)
			s := open(t, o)
			events := s.Events(t.Context())
			if err := s.SetTools(t.Context(), c.tools); err != nil {
				t.Fatal(err)
			}
			add(t, s, human("Go."))
			r := prepare(t, s)
			host := slices.DeleteFunc(slices.Clone(r.Request().Tools), func(t llm.Tool) bool { return t.Builtin })
			if len(host) != len(c.tools) || len(toolNotes(r)) > 0 || slices.Contains(names(r.Request().Tools), "[tool_search]") {
				t.Errorf("want all %d tools, and nothing to find others, got %q", len(c.tools), names(r.Request().Tools))
			}
			said := ""
			_ = s.Close()
			for e := range events {
				if e.Notice != nil && e.Notice.Kind == engine.EventTools {
					said = e.Text
				}
			}
			if (said == "") != (c.event == "") || !strings.Contains(said, c.event) {
				t.Errorf("event: want %q, got %q", c.event, said)
			}
		})
	}
}

// Deferral works with everything else off.
func TestManyToolsAlone(t *testing.T) {
	t.Run("R002-31_deferral alone", func(t *testing.T) {
		o := deferring(t, "layered")
		o.Policy.Rules, o.Policy.Tools = nil, []string{policy.ToolSearch}
		o.Policy.Templates = map[string]string{policy.TemplateDeferred: o.Policy.Templates[policy.TemplateDeferred]}
		s := began(t, o, manyTools())
		if got := names(prepare(t, s).Request().Tools); len(got) > 20 || got[len(got)-1] != "[tool_search]" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("R002-31_the others without deferral", func(t *testing.T) {
		o := deferring(t, "layered")
		o.Policy.Deferral = policy.Deferral{}
		s := began(t, o, manyTools())
		if got := names(prepare(t, s).Request().Tools); len(got) != 35+2 {
			t.Errorf("got %q", got)
		}
	})
}

// A host's tool of that name is the host's.
func TestManyToolsPrefixed(t *testing.T) {
	s := began(t, deferring(t, "balanced"), append(manyTools(), llm.Tool{Name: policy.ToolSearch}))
	r := prepare(t, s)
	if got := names(r.Request().Tools); !slices.Contains(got, "tool_search") || !slices.Contains(got, "[plimsoll_tool_search]") {
		t.Errorf("got %q", got)
	}
	if notes := toolNotes(r); len(notes) != 1 || !strings.Contains(notes[0], " plimsoll_tool_search finds") {
		t.Errorf("got %q", notes)
	}
}

// TestManyToolsFigures prints what leaving tools out saves of the tools that real servers list,
// and holds that a first request stays within the share that the policy states.
func TestManyToolsFigures(t *testing.T) {
	tools := realTools(t)
	for _, name := range []string{"layered", "balanced"} {
		for _, model := range []string{"gpt-5", "claude-opus-4-5"} {
			for _, window := range []int{128_000, 200_000, 1_000_000} {
				o := plimsoll.Options{Policy: preset(t, name), Targets: []budget.Target{{Provider: "a", Model: model, Window: budget.Window{Capacity: window}}}}
				all := o
				all.Policy.Deferral = policy.Deferral{}
				before, after := began(t, all, tools), began(t, o, tools)
				_, _ = before.Prepare(t.Context()) // with all of them it need not fit
				prepare(t, after)
				u := after.Usage()
				t.Logf("| `%s` | %s | %d | %d | %d | %d of %d |", name, model, window, before.Usage().Parts.Tools, u.Parts.Tools, len(tools)-len(after.LeftOut()), len(tools))
				if by := before.Usage().Parts.Tools; u.Parts.Tools > by || name == "balanced" && by > u.Limit/10 && u.Parts.Tools > u.Limit/10 {
					t.Errorf("want a tenth of %d at most, got %d of %d", u.Limit, u.Parts.Tools, by)
				}
			}
		}
	}
}

// realTools returns the tools of scripts/toolsets, which core/deferral holds against their hashes.
func realTools(t *testing.T) (tools []llm.Tool) {
	t.Helper()
	dir := os.Getenv("PLIMSOLL_TOOLSETS")
	if dir == "" {
		t.Skip("PLIMSOLL_TOOLSETS is not set: a folder made by scripts/toolsets")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.tools.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		var listed []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"inputSchema"`
		}
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &listed)
		}
		if err != nil {
			t.Fatal(err)
		}
		server := strings.TrimSuffix(filepath.Base(file), ".tools.json")
		for _, l := range listed {
			tools = append(tools, llm.Tool{Name: server + "__" + l.Name, Description: l.Description, Schema: string(l.Schema), Kind: llm.ToolOfServer})
		}
	}
	return tools
}
