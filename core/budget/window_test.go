package budget_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/budget"
)

func TestLimit(t *testing.T) {
	t.Run("R000-6 worked example", func(t *testing.T) {
		w := budget.Window{Capacity: 128_000, Buffer: 8_192, OutputReserve: 16_384}
		if w.Limit() != 103_424 || w.Validate() != nil {
			t.Errorf("limit = %d, %v, want 103424", w.Limit(), w.Validate())
		}
	})
	t.Run("R000-10 buffer and output are always subtracted", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.IntRange(0, 1<<30)
			w := budget.Window{Capacity: n.Draw(t, "capacity"), Buffer: n.Draw(t, "buffer"), OutputReserve: n.Draw(t, "output")}
			if w.Limit()+w.Buffer+w.OutputReserve != w.Capacity {
				t.Fatalf("limit = %d of %+v", w.Limit(), w)
			}
			w.MaxInput = rapid.IntRange(1, 1<<30).Draw(t, "most input")
			if w.Limit() != min(w.Capacity-w.OutputReserve, w.MaxInput)-w.Buffer || w.Input() > w.MaxInput || w.Input() > w.Capacity {
				t.Fatalf("limit = %d of %+v, input %d", w.Limit(), w, w.Input())
			}
		})
	})
	t.Run("the most input is a limit of its own", func(t *testing.T) {
		w := budget.Window{Capacity: 400_000, MaxInput: 272_000, Buffer: 8_192, OutputReserve: 100_000}
		if w.Limit() != 263_808 || w.Input() != 272_000 {
			t.Errorf("limit %d, input %d, want 263808, 272000", w.Limit(), w.Input())
		}
		if w.OutputReserve = 200_000; w.Limit() != 191_808 {
			t.Errorf("with a large reserve: limit %d, want 191808", w.Limit())
		}
	})
}

func TestValidate(t *testing.T) {
	good := budget.Window{Capacity: 1000, Buffer: 100, OutputReserve: 899}
	tests := []struct {
		name string
		w    budget.Window
		what string // "": no fault
	}{
		{"R000-6 a limit of 1", good, ""},
		{"R000-6 a limit of 0 is a configuration error", budget.Window{Capacity: 1000, Buffer: 100, OutputReserve: 900}, "limit"},
		{"R000-6 a negative limit", budget.Window{Capacity: 8_192, Buffer: 8_192, OutputReserve: 2_048}, "limit"},
		{"nothing configured", budget.Window{}, "limit"},
		{"negative capacity", budget.Window{Capacity: -1}, "capacity"},
		{"negative input", budget.Window{Capacity: 1000, MaxInput: -1}, "most input"},
		{"no room in the most input", budget.Window{Capacity: 1000, MaxInput: 100, Buffer: 100}, "limit"},
		{"negative buffer", budget.Window{Capacity: 1000, Buffer: -1}, "buffer"},
		{"negative output", budget.Window{Capacity: 1000, OutputReserve: -5}, "output reserve"},
		{"negative bytes", budget.Window{Capacity: 1000, MaxBytes: -1}, "max bytes"},
		{"negative images", budget.Window{Capacity: 1000, MaxImages: -1}, "max images"},
		{"absurd capacity", budget.Window{Capacity: math.MaxInt}, "capacity"},
		{"absurd output", budget.Window{Capacity: 1000, OutputReserve: math.MaxInt}, "output reserve"},
		{"limits of bytes and images", budget.Window{Capacity: 1000, MaxBytes: 32 << 20, MaxImages: 100}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.w.Validate()
			if tt.what == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var fault *budget.ConfigError
			if !errors.As(err, &fault) || fault.What != tt.what || fault.Window != tt.w {
				t.Fatalf("got %v, want a ConfigError about %s", err, tt.what)
			}
			for _, part := range []string{"capacity", "buffer", "output reserve", "limit"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not show the %s", err, part)
				}
			}
		})
	}
}

func TestStated(t *testing.T) {
	w := budget.Window{Capacity: 1_000, OutputReserve: 7, MaxBytes: 5}
	if got, want := w.Stated(), (budget.Window{Capacity: 1_000, Buffer: budget.None, OutputReserve: 7, MaxBytes: 5}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestScaled(t *testing.T) {
	w := budget.Window{Capacity: 20_000, Buffer: 8_192, OutputReserve: 16_384, MaxBytes: 5}
	got, scaled := w.Scaled()
	if !scaled || got.Buffer != 1666 || got.OutputReserve != 3334 || got.Limit() != 15_000 || got.MaxBytes != 5 {
		t.Errorf("scaled = %+v, %v", got, scaled)
	}
	for _, w := range []budget.Window{
		{Capacity: budget.DefaultCapacity, Buffer: 8_192, OutputReserve: 32_768}, // not small
		{Capacity: 20_000, Buffer: 1_000, OutputReserve: 4_000},                  // a quarter
	} {
		if got, scaled := w.Scaled(); scaled || got != w {
			t.Errorf("%+v scaled to %+v", w, got)
		}
	}
	full := budget.Window{Capacity: 200_000, Buffer: 100_000, OutputReserve: 100_000}
	if got, scaled := full.Scaled(); !scaled || got.Buffer != 25_000 || got.OutputReserve != 25_000 {
		t.Errorf("a window without room scaled to %+v, %v", got, scaled)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1<<40)
		w := budget.Window{Capacity: n.Draw(t, "capacity"), Buffer: n.Draw(t, "buffer"), OutputReserve: n.Draw(t, "output")}
		got, scaled := w.Scaled()
		fits := w.Buffer+w.OutputReserve <= w.Capacity/4 || w.Capacity >= budget.DefaultCapacity && w.Limit() > 0
		if fits == scaled && w.Capacity > 0 && w.Buffer+w.OutputReserve <= 1<<40 {
			t.Fatalf("%+v: scaled = %v", w, scaled)
		}
		if scaled && (got.Buffer < 0 || got.OutputReserve < 0 || got.Buffer+got.OutputReserve != w.Capacity/4 || got.Capacity != w.Capacity) {
			t.Fatalf("%+v scaled to %+v", w, got)
		}
		if !scaled && got != w {
			t.Fatalf("not scaled, but %+v became %+v", w, got)
		}
	})
}

func TestPercent(t *testing.T) {
	for tokens, want := range map[int]int{-1: 0, 0: 0, 4: 0, 5: 1, 495: 50, 494: 49, 995: 100, 5000: 100, math.MaxInt: 100} {
		if got := (budget.Window{Capacity: 1000}).Percent(tokens); got != want {
			t.Errorf("R000-15 %d of 1000 = %d %%, want %d %%", tokens, got, want)
		}
	}
	if got := (budget.Window{}).Percent(0); got != 100 {
		t.Errorf("a window of 0 is %d %% full", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		n, capacity := rapid.IntRange(0, 1<<40).Draw(t, "tokens"), rapid.IntRange(1, 1<<40).Draw(t, "capacity")
		if got, want := (budget.Window{Capacity: capacity}).Percent(n), min((n*100+capacity/2)/capacity, 100); got != want {
			t.Fatalf("R000-15 %d of %d = %d %%, want %d %%", n, capacity, got, want)
		}
	})
}
