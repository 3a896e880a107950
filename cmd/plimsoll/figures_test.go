package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// One figure has one value and one source in all commands: what policy explain and
// config show print, and what a session has that is given either.
func TestFiguresAreTheSame(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range policy.Presets() {
		p, err := policy.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			model, window string
			output        int
		}{
			{"gpt-4o", "", 0}, {"gpt-4o", "", 16_384}, {"gpt-x", "12000", 0}, {"gpt-x", "40000", 4_000}, {"gpt-x", "131071", 0}, {"gpt-x", "1000000", 8_192},
		} {
			t.Run(fmt.Sprintf("R000-6 R000-7 R000-8 R000-9 %s %s %s %d", name, c.model, c.window, c.output), func(t *testing.T) {
				q := config.Query{Provider: "openai", Model: c.model, Policy: p, Catalog: cat}
				f := explainFlags{model: c.model, output: c.output, outputSet: c.output > 0 && p.Window.ReserveOutput}
				var overrides []string
				if c.window != "" {
					f.model, f.window = "", c.window
					overrides = append(overrides, "contextWindow="+c.window)
				}
				if c.output > 0 {
					overrides = append(overrides, fmt.Sprintf("maxOutputTokens=%d", c.output))
				}
				if q.Override, err = config.ParseOverrides(overrides, config.Known{}); err != nil {
					t.Fatal(err)
				}
				explained, noRoom := f.figures(p)
				shown, err := config.Settings{}.Resolve(q)
				if err != nil || noRoom != nil {
					if _, ok := errors.AsType[*config.RoomError](err); !ok || noRoom == nil {
						t.Fatalf("explain: %v; config show: %v", noRoom, err)
					}
					return
				}
				for _, pair := range [][2]policy.Figure{{explained.Capacity, shown.Capacity}, {explained.Buffer, shown.Buffer}, {explained.Output, shown.Output}} {
					asked := strings.HasPrefix(pair[0].Source, "--") && strings.HasPrefix(pair[1].Source, "override ")
					if pair[0].Value != pair[1].Value || pair[0].Source != pair[1].Source && !asked {
						t.Errorf("explained is %+v, shown %+v", pair[0], pair[1])
					}
				}
				for _, w := range []budget.Window{shown.Window(), explained.Window().Stated()} {
					s, err := plimsoll.Open(t.Context(), plimsoll.Options{Policy: p, Targets: []budget.Target{{Provider: "openai", Model: c.model, Window: w}}, Catalog: &cat})
					if err != nil {
						t.Fatal(err)
					}
					if got := s.Usage(); got.Limit != shown.Limit() || got.Target.Window.Capacity != explained.Capacity.Value {
						t.Errorf("the session has %+v, shown is a limit of %d", got.Target.Window, shown.Limit())
					}
				}
			})
		}
	}
}
