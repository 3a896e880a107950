package policy_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// window returns that of a policy where a capacity and, above 0, an output are stated.
func window(t testing.TB, p policy.Policy, capacity, output int) budget.Window {
	t.Helper()
	f, err := p.Resolve(policy.Stated("test", budget.Window{Capacity: capacity, OutputReserve: output}))
	if err != nil {
		t.Fatal(err)
	}
	return f.Window()
}

// Each figure comes from the nearest place that states it, else from the policy, and
// says so.
func TestResolve(t *testing.T) {
	type figure = policy.Figure
	layer := func(source string, capacity, buffer, output int) policy.Layer { // -1: not stated
		set := func(n int) policy.Optional { return policy.Optional{Value: max(n, 0), Set: n >= 0} }
		return policy.Layer{Source: source, Capacity: set(capacity), Buffer: set(buffer), Output: set(output)}
	}
	most := func(n int) policy.Layer { return policy.Layer{Source: "refusal", Most: policy.Some(n)} }
	known := func(n int) policy.Layer { return policy.Known(catalog.Model{Window: n, Source: "vendor"}) }
	buffer, quarter := figure{Value: 8_192, Source: "preset guard"}, func(n int) figure { return figure{Value: n, Source: "window/4"} }
	for _, c := range []struct {
		name, preset             string
		layers                   []policy.Layer
		capacity, buffer, output figure
	}{
		{"R000-8 R000-9 R000-7 nothing stated", "guard", nil, figure{Value: 131_072, Source: "preset guard (window not known)"}, buffer, quarter(32_768)},
		{"R000-8 the model before its provider", "guard", []policy.Layer{layer("model", 200_000, -1, -1), layer("provider", 128_000, -1, -1)}, figure{Value: 200_000, Source: "model"}, buffer, quarter(50_000)},
		{"R000-8 the provider where the model says nothing", "guard", []policy.Layer{layer("model", -1, -1, -1), layer("provider", 128_001, -1, -1), layer("defaults", -1, -1, 16_384)}, figure{Value: 128_001, Source: "provider"}, buffer, figure{Value: 16_384, Source: "defaults"}},
		{"R000-8 the catalogue before what is assumed", "guard", []policy.Layer{layer("model", -1, -1, -1), known(128_000)}, figure{Value: 128_000, Source: "catalogue (vendor)"}, buffer, quarter(32_000)},
		{"R000-8 a catalogue that does not know it", "guard", []policy.Layer{known(0)}, figure{Value: 131_072, Source: "preset guard (window not known)"}, buffer, quarter(32_768)},
		{"R000-7 a quarter is rounded down", "guard", []policy.Layer{layer("model", 131_071, -1, -1)}, figure{Value: 131_071, Source: "model"}, buffer, quarter(32_767)},
		{"R000-9 model, provider, defaults", "guard", []policy.Layer{layer("model", 100_000, -1, -1), layer("provider", -1, 256, -1), layer("defaults", -1, 4_096, -1)}, figure{Value: 100_000, Source: "model"}, figure{Value: 256, Source: "provider"}, quarter(25_000)},
		{"R000-9 a stated 0 is stated", "guard", []policy.Layer{layer("model", -1, 0, 0), layer("defaults", -1, 4_096, -1)}, figure{Value: 131_072, Source: "preset guard (window not known)"}, figure{Source: "model"}, figure{Source: "model"}},
		{"R002-2 R002-25 nothing stated", "layered", nil, figure{Value: 100_000, Source: "preset layered (window not known)"}, figure{Source: "preset layered (keeps none)"}, figure{Value: 4_096, Source: "preset layered"}},
		{"R001-13 the window is the window", "cache-compact", []policy.Layer{layer("model", 9_000, 70, 80)}, figure{Value: 9_000, Source: "model"}, figure{Source: "preset cache-compact (keeps none)"}, figure{Source: "preset cache-compact (keeps none)"}},
		{"R003-3 an unknown window is four times the output", "turn-budget", nil, figure{Value: 131_072, Source: "output x 4"}, figure{Source: "preset turn-budget (keeps none)"}, figure{Value: 32_768, Source: "preset turn-budget"}},
		{"R003-3 of the output that is stated", "turn-budget", []policy.Layer{layer("model", -1, -1, 8_192)}, figure{Value: 32_768, Source: "output x 4"}, figure{Source: "preset turn-budget (keeps none)"}, figure{Value: 8_192, Source: "model"}},
		{"a buffer of at most a quarter", "balanced", []policy.Layer{layer("model", 8_000, -1, -1)}, figure{Value: 8_000, Source: "model"}, figure{Value: 2_000, Source: "preset balanced (250 permille of the window)"}, quarter(2_000)},
		{"a refusal of what is known", "guard", []policy.Layer{most(100_000), known(128_000)}, figure{Value: 100_000, Source: "refusal"}, figure{Value: 6_170, Source: "preset guard, scaled"}, figure{Value: 18_830, Source: "window/4, scaled"}},
		{"a refusal that leaves a large window", "guard", []policy.Layer{most(150_000), known(200_000)}, figure{Value: 150_000, Source: "refusal"}, buffer, quarter(37_500)},
		{"a refusal of more is none", "guard", []policy.Layer{most(300_000), known(200_000)}, figure{Value: 200_000, Source: "catalogue (vendor)"}, buffer, quarter(50_000)},
		{"a refusal of what is assumed", "turn-budget", []policy.Layer{most(8_192)}, figure{Value: 8_192, Source: "refusal"}, figure{Source: "preset turn-budget (keeps none), scaled"}, figure{Value: 2_048, Source: "preset turn-budget, scaled"}},
		{"a small window that is stated is not scaled", "guard", []policy.Layer{layer("model", 12_000, -1, -1)}, figure{Value: 12_000, Source: "model"}, buffer, quarter(3_000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := preset(t, c.preset).Resolve(c.layers...)
			assumed := !slices.ContainsFunc(c.layers, func(l policy.Layer) bool { return l.Capacity.Set || l.Most.Set })
			if want := (policy.Figures{Capacity: c.capacity, Buffer: c.buffer, Output: c.output, Assumed: assumed}); err != nil || got != want {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
			}
		})
	}
	mine := preset(t, "guard")
	mine.Name, mine.Window.OutputPermille = "mine", 300
	if got, err := mine.Resolve(layer("model", 100_000, -1, -1)); err != nil || got.Output != (figure{Value: 30_000, Source: "policy mine (300 permille)"}) {
		t.Errorf("a share of one's own: got %+v, %v", got, err)
	}
}

// A window that nobody knows is an error where the policy takes no guess, or has nothing
// to guess from.
func TestResolveUnknown(t *testing.T) {
	output := func(n int) policy.Layer { return policy.Layer{Source: "model", Output: policy.Some(n)} }
	for name, c := range map[string]struct {
		preset string
		layer  policy.Layer
	}{
		"R001-13 cache-compact is strict":                  {"cache-compact", output(4_096)},
		"R003-3 four times nothing":                        {"turn-budget", output(0)},
		"R003-3 an absurd output makes no window":          {"turn-budget", output(math.MaxInt)},
		"R001-13 what was refused is not what there is":    {"cache-compact", policy.Layer{Source: "refusal", Most: policy.Some(4_096)}},
		"R003-3 four times less than nothing is no window": {"turn-budget", output(-8_192)},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := preset(t, c.preset).Resolve(c.layer); !errors.Is(err, budget.ErrUnknownWindow) {
				t.Errorf("got %+v, %v, want ErrUnknownWindow", got, err)
			}
		})
	}
}

// The most input of a model is a limit beside its window, and rules act at shares of it.
func TestResolveInput(t *testing.T) {
	gpt := catalog.Model{Window: 400_000, MaxInput: 272_000, Source: "vendor"}
	stated := func(w budget.Window) policy.Layer { return policy.Stated("target", w) }
	for name, c := range map[string]struct {
		preset       string
		layers       []policy.Layer
		input, limit int
		source       string
	}{
		"the catalogue's":                       {"guard", []policy.Layer{policy.Known(gpt)}, 272_000, 263_808, "catalogue (vendor)"},
		"a policy that keeps nothing":           {"cache-compact", []policy.Layer{policy.Known(gpt)}, 272_000, 272_000, "catalogue (vendor)"},
		"a smaller window that is stated":       {"cache-compact", []policy.Layer{stated(budget.Window{Capacity: 200_000}), policy.Known(gpt)}, 0, 200_000, ""},
		"a window that is another model's":      {"cache-compact", []policy.Layer{stated(budget.Window{Capacity: 1_000_000}), policy.Known(gpt)}, 0, 1_000_000, ""},
		"stated":                                {"cache-compact", []policy.Layer{stated(budget.Window{MaxInput: 250_000}), policy.Known(gpt)}, 250_000, 250_000, "target"},
		"stated to be none":                     {"cache-compact", []policy.Layer{stated(budget.Window{MaxInput: budget.None}), policy.Known(gpt)}, 0, 400_000, "target"},
		"a refusal of less":                     {"cache-compact", []policy.Layer{{Source: "refusal", Most: policy.Some(100_000)}, policy.Known(gpt)}, 0, 100_000, ""},
		"more than it was accepted":             {"cache-compact", []policy.Layer{{Source: "accepted", Least: policy.Some(300_000)}, policy.Known(gpt)}, 300_000, 300_000, "accepted"},
		"more than the window was accepted":     {"cache-compact", []policy.Layer{{Source: "accepted", Least: policy.Some(410_000)}, policy.Known(gpt)}, 0, 410_000, ""},
		"what was accepted is no more than was": {"cache-compact", []policy.Layer{{Source: "accepted", Least: policy.Some(1)}, policy.Known(gpt)}, 272_000, 272_000, "catalogue (vendor)"},
	} {
		f, err := preset(t, c.preset).Resolve(c.layers...)
		if err != nil || f.Input.Value != c.input || f.Input.Source != c.source || f.Window().Limit() != c.limit {
			t.Errorf("%s: %+v with a limit of %d, %v, want %+v", name, f, f.Window().Limit(), err, c)
		}
	}
	f, _ := preset(t, "cache-compact").Resolve(policy.Known(gpt))
	share := policy.Condition{Measure: policy.MeasureUsage, Op: ">=", Permille: 800, Of: policy.OfCapacity}
	if got := share.Threshold(f.Window()); got != 217_600 {
		t.Errorf("80 %% of the window: %d, want 217600, which a prompt can reach", got)
	}
}

// What a target states is the nearest: 0 is not stated, and None is 0.
func TestStated(t *testing.T) {
	got := policy.Stated("target", budget.Window{Capacity: 5, Buffer: budget.None, MaxBytes: 7})
	want := policy.Layer{Source: "target", Capacity: policy.Some(5), Buffer: policy.Some(0)}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Whatever is stated, known and learnt, every figure has a source, what is resolved is
// what a second resolution of it gives, and nothing overflows.
func TestResolveProperties(t *testing.T) {
	figure := rapid.OneOf(rapid.IntRange(-2, 300_000), rapid.SampledFrom([]int{0, budget.None, 131_071, 131_072, 1 << 40, math.MaxInt, math.MinInt}))
	rapid.Check(t, func(t *rapid.T) {
		p, err := policy.Preset(rapid.SampledFrom(policy.Presets()).Draw(t, "preset"))
		if err != nil {
			t.Fatal(err)
		}
		w := budget.Window{Capacity: figure.Draw(t, "capacity"), Buffer: figure.Draw(t, "buffer"), OutputReserve: figure.Draw(t, "output")}
		most := policy.Optional{Value: figure.Draw(t, "most"), Set: rapid.Bool().Draw(t, "refused")}
		known := policy.Known(catalog.Model{Window: rapid.IntRange(0, 1<<21).Draw(t, "known"), Source: "vendor"})
		f, err := p.Resolve(policy.Layer{Source: "refusal", Most: most}, policy.Stated("target", w), known)
		if errors.Is(err, budget.ErrUnknownWindow) {
			if w.Capacity != 0 || known.Capacity.Set {
				t.Fatalf("%+v: %v", w, err)
			}
			return
		}
		if err != nil || f.Capacity.Source == "" || f.Buffer.Source == "" || f.Output.Source == "" {
			t.Fatalf("%+v: got %+v, %v", w, f, err)
		}
		if most.Set && f.Capacity.Value > most.Value {
			t.Fatalf("a capacity of %d above the refused %d", f.Capacity.Value, most.Value)
		}
		got := f.Window()
		if got.Validate() != nil {
			return
		}
		again, err := p.Resolve(policy.Stated("target", got.Stated()))
		if err != nil || again.Window() != got {
			t.Fatalf("%+v resolves to %+v, and that to %+v, %v", w, got, again.Window(), err)
		}
	})
}
