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
		})
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

func TestResolve(t *testing.T) {
	session := budget.Layer{Source: "session"}
	model := budget.Layer{Source: "model"}
	provider := budget.Layer{Source: "provider"}
	defaults := budget.Layer{Source: "defaults"}
	fallback := budget.Unknown{Capacity: budget.Some(budget.DefaultCapacity)}
	with := func(l budget.Layer, change func(*budget.Layer)) budget.Layer { change(&l); return l }
	capacity := func(n int) func(*budget.Layer) { return func(l *budget.Layer) { l.Capacity = budget.Some(n) } }
	buffer := func(n int) func(*budget.Layer) { return func(l *budget.Layer) { l.Buffer = budget.Some(n) } }
	output := func(n int) func(*budget.Layer) { return func(l *budget.Layer) { l.Output = budget.Some(n) } }

	tests := []struct {
		name   string
		layers []budget.Layer
		want   budget.Settings
	}{
		{
			"R000-8 R000-9 R000-7 nothing stated", nil,
			budget.Settings{Capacity: budget.Setting{Value: 131_072, Source: "default"}, Buffer: budget.Setting{Value: 8_192, Source: "default"}, Output: budget.Setting{Value: 32_768, Source: "window/4"}},
		},
		{
			"R000-8 the model before its provider",
			[]budget.Layer{with(model, capacity(200_000)), with(provider, capacity(128_000))},
			budget.Settings{Capacity: budget.Setting{Value: 200_000, Source: "model"}, Buffer: budget.Setting{Value: 8_192, Source: "default"}, Output: budget.Setting{Value: 50_000, Source: "window/4"}},
		},
		{
			"R000-8 the provider where the model says nothing",
			[]budget.Layer{model, with(provider, capacity(128_001)), with(defaults, output(16_384))},
			budget.Settings{Capacity: budget.Setting{Value: 128_001, Source: "provider"}, Buffer: budget.Setting{Value: 8_192, Source: "default"}, Output: budget.Setting{Value: 16_384, Source: "defaults"}},
		},
		{
			"R000-7 a quarter is rounded down",
			[]budget.Layer{with(model, capacity(131_071))},
			budget.Settings{Capacity: budget.Setting{Value: 131_071, Source: "model"}, Buffer: budget.Setting{Value: 8_192, Source: "default"}, Output: budget.Setting{Value: 32_767, Source: "window/4"}},
		},
		{
			"R000-9 model, provider, defaults",
			[]budget.Layer{with(model, capacity(100_000)), with(provider, buffer(256)), with(defaults, buffer(4_096))},
			budget.Settings{Capacity: budget.Setting{Value: 100_000, Source: "model"}, Buffer: budget.Setting{Value: 256, Source: "provider"}, Output: budget.Setting{Value: 25_000, Source: "window/4"}},
		},
		{
			"R000-9 a stated 0 is stated",
			[]budget.Layer{with(with(model, buffer(0)), output(0)), with(defaults, buffer(4_096))},
			budget.Settings{Capacity: budget.Setting{Value: 131_072, Source: "default"}, Buffer: budget.Setting{Value: 0, Source: "model"}, Output: budget.Setting{Value: 0, Source: "model"}},
		},
		{
			"R000-8 a session's override goes first",
			[]budget.Layer{with(session, capacity(50_000)), with(model, capacity(200_000))},
			budget.Settings{Capacity: budget.Setting{Value: 50_000, Source: "session"}, Buffer: budget.Setting{Value: 8_192, Source: "default"}, Output: budget.Setting{Value: 12_500, Source: "window/4"}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := budget.Resolve(tt.layers, fallback, budget.DefaultBuffer)
			if err != nil || got != tt.want {
				t.Errorf("Resolve = %+v, %v, want %+v", got, err, tt.want)
			}
			if w := got.Window(); w.Capacity != tt.want.Capacity.Value || w.Buffer != tt.want.Buffer.Value || w.OutputReserve != tt.want.Output.Value {
				t.Errorf("Window = %+v", w)
			}
		})
	}
	t.Run("R001-13 an unknown window is an error where the policy says so", func(t *testing.T) {
		_, err := budget.Resolve([]budget.Layer{with(model, output(4_096))}, budget.Unknown{}, 0)
		if !errors.Is(err, budget.ErrUnknownWindow) {
			t.Errorf("got %v, want ErrUnknownWindow", err)
		}
	})
	t.Run("R003-3 an unknown window is four times the output", func(t *testing.T) {
		for out, want := range map[int]int{32_768: 131_072, 8_192: 32_768} {
			got, err := budget.Resolve([]budget.Layer{with(model, output(out))}, budget.Unknown{OutputMultiple: 4}, 0)
			if err != nil || got.Capacity != (budget.Setting{Value: want, Source: "output x 4"}) {
				t.Errorf("output %d: %+v, %v, want a capacity of %d", out, got, err, want)
			}
		}
		if _, err := budget.Resolve(nil, budget.Unknown{OutputMultiple: 4}, 0); !errors.Is(err, budget.ErrUnknownWindow) {
			t.Errorf("neither known: %v, want ErrUnknownWindow", err)
		}
		if _, err := budget.Resolve([]budget.Layer{with(model, output(math.MaxInt))}, budget.Unknown{OutputMultiple: 4}, 0); err == nil {
			t.Error("an absurd output makes a window")
		}
	})
}

func TestHistoryBudget(t *testing.T) {
	t.Run("R003-2", func(t *testing.T) {
		w := budget.Window{Capacity: 131_072, OutputReserve: 32_768}
		used := budget.Components{System: 5_000, Skills: 1_000, Summary: 2_000, Tools: 9_000, History: 70_000, Notes: 10}
		if got, want := w.HistoryBudget(used), 131_072-32_768-5_000-1_000-2_000-9_000; got != want {
			t.Errorf("history budget = %d, want %d", got, want)
		}
	})
	t.Run("R003-8 over when messages, tools and output exceed the window", func(t *testing.T) {
		w := budget.Window{Capacity: 10_000, OutputReserve: 2_000}
		for history, over := range map[int]bool{6_000: false, 6_001: true} {
			used := budget.Components{History: history, Tools: 2_000}
			if got := used.Used() > w.Limit(); got != over {
				t.Errorf("history %d: over = %v, want %v", history, got, over)
			}
			if got := used.History > w.HistoryBudget(used); got != over {
				t.Errorf("history %d against its own budget: over = %v, want %v", history, got, over)
			}
		}
	})
}

func TestScaled(t *testing.T) {
	w := budget.Window{Capacity: 20_000, Buffer: 8_192, OutputReserve: 16_384, MaxBytes: 5}
	got, scaled := w.Scaled()
	if !scaled || got.Buffer != 1666 || got.OutputReserve != 3334 || got.Limit() != 15_000 || got.MaxBytes != 5 {
		t.Errorf("scaled = %+v, %v", got, scaled)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1<<40)
		w := budget.Window{Capacity: n.Draw(t, "capacity"), Buffer: n.Draw(t, "buffer"), OutputReserve: n.Draw(t, "output")}
		got, scaled := w.Scaled()
		if fits := w.Buffer+w.OutputReserve <= w.Capacity/4; fits == scaled && w.Capacity > 0 && w.Buffer+w.OutputReserve <= 1<<40 {
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
