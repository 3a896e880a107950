package budget_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

func TestCheck(t *testing.T) {
	to := budget.Target{Provider: "acme", Model: "m1", Window: budget.Window{Capacity: 1_000, OutputReserve: 100, MaxBytes: 5_000, MaxImages: 2}}
	fits := budget.Load{Count: 900, Components: budget.Components{System: 100, History: 700}, Bytes: 5_000, Images: 2}
	if err := budget.Check(to, fits, budget.Floor{}); err != nil {
		t.Fatalf("at every limit: %v", err)
	}
	tests := []struct {
		name     string
		change   func(*budget.Load)
		quantity budget.Quantity
		used     int
		limit    int
	}{
		{"tokens", func(l *budget.Load) { l.Count++ }, budget.InTokens, 901, 900},
		{"bytes", func(l *budget.Load) { l.Bytes++ }, budget.InBytes, 5_001, 5_000},
		{"images", func(l *budget.Load) { l.Images++ }, budget.InImages, 3, 2},
	}
	for _, tt := range tests {
		t.Run("law 1 "+tt.name, func(t *testing.T) {
			l := fits
			tt.change(&l)
			err := budget.Check(to, l, budget.Floor{System: 100, NewestRound: 50})
			var over *budget.OverError
			if !errors.As(err, &over) {
				t.Fatalf("got %v, want an OverError", err)
			}
			want := budget.OverError{
				Target: to, Quantity: tt.quantity, Component: token.History, Tokens: 700, Used: tt.used, Limit: tt.limit,
				Floor: budget.Floor{System: 100, NewestRound: 50},
			}
			if *over != want || over.Irreducible() {
				t.Errorf("got %+v, want %+v, not irreducible", *over, want)
			}
			for _, part := range []string{"acme/m1", "history", tt.quantity.String(), "floor 150 = system 100 + newest round 50"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
	t.Run("no limit of bytes and images", func(t *testing.T) {
		free := budget.Target{Model: "m", Window: budget.Window{Capacity: 1_000}}
		if err := budget.Check(free, budget.Load{Bytes: 1 << 40, Images: 1 << 20}, budget.Floor{}); err != nil {
			t.Error(err)
		}
	})
}

func TestFloor(t *testing.T) {
	f := budget.Floor{System: 400, Tools: 300, Pins: 150, OpenCalls: 40, NewestRound: 110, Bytes: 9_000, Images: 1}
	if f.Total() != 1_000 {
		t.Errorf("total = %d, want 1000", f.Total())
	}
	at := func(w budget.Window) budget.Target { return budget.Target{Provider: "acme", Window: w} }
	over := budget.Load{Count: 1_001, Bytes: 9_000}
	for _, w := range []budget.Window{{Capacity: 1_000}, {Capacity: 3_000, MaxBytes: 8_999, MaxImages: 1}} {
		var err *budget.OverError
		if !errors.As(budget.Check(at(w), over, f), &err) || err.Irreducible() != (w.MaxBytes > 0) {
			t.Errorf("%+v: got %v, want a floor at the limit of tokens, and above that of bytes", w, err)
		}
	}
	for name, w := range map[string]budget.Window{
		"tokens": {Capacity: 999},
		"bytes":  {Capacity: 2_000, MaxBytes: 8_999},
	} {
		err := budget.Check(at(w), over, f)
		var fault *budget.OverError
		if !errors.As(err, &fault) || !fault.Irreducible() || fault.Quantity.String() != name || !strings.Contains(err.Error(), "no edit") {
			t.Errorf("%s: got %v, want an irreducible OverError", name, err)
		}
	}
	if got := (budget.Floor{}).String(); got != "floor 0" {
		t.Errorf("an empty floor is %q", got)
	}
}

// A request that fits is never an error, one that does not always is, and the
// floor decides whether an edit can help.
func TestCheckIsComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string) int { return rapid.IntRange(0, 50).Draw(t, name) }
		to := budget.Target{Window: budget.Window{Capacity: n("capacity"), Buffer: n("buffer"), OutputReserve: n("output"), MaxBytes: n("bytes"), MaxImages: n("images")}}
		f := budget.Floor{System: n("system"), Tools: n("tools"), Bytes: n("floor bytes"), Images: n("floor images")}
		l := budget.Load{Count: n("count"), Bytes: n("b"), Images: n("i")}
		w := to.Window
		fits := l.Count <= w.Limit() && (w.MaxBytes == 0 || l.Bytes <= w.MaxBytes) && (w.MaxImages == 0 || l.Images <= w.MaxImages)
		err := budget.Check(to, l, f)
		if fits != (err == nil) {
			t.Fatalf("%+v in %+v: %v", l, w, err)
		}
		var over *budget.OverError
		if errors.As(err, &over) && (over.Used <= over.Limit || err.Error() == "") {
			t.Fatalf("%v", over)
		}
		if over == nil {
			return
		}
		irreducible := map[budget.Quantity]bool{
			budget.InTokens: f.Total() > w.Limit(), budget.InBytes: f.Bytes > w.MaxBytes, budget.InImages: f.Images > w.MaxImages,
		}
		if over.Irreducible() != irreducible[over.Quantity] {
			t.Fatalf("%v in %+v: %v", f, w, over)
		}
	})
}

func TestNames(t *testing.T) {
	for target, want := range map[budget.Target]string{{Provider: "p"}: "p", {Model: "m"}: "m", {Provider: "p", Model: "m"}: "p/m", {}: ""} {
		if got := target.Name(); got != want {
			t.Errorf("name = %q, want %q", got, want)
		}
	}
	for i, want := range []string{"ok", "skip", "final", "decision?"} {
		if got := budget.Decision(i).String(); got != want {
			t.Errorf("R000-11 decision %d = %q, want %q", i, got, want)
		}
	}
	if got := budget.Quantity(9).String(); got != "quantity?" {
		t.Errorf("an unknown quantity is %q", got)
	}
}
