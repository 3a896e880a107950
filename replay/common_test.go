package replay

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// One limit judges all: the lowest of the window, whatever the order of the policies.
func TestCommonLimit(t *testing.T) {
	presets := func(names ...string) []policy.Policy {
		var list []policy.Policy
		for _, name := range names {
			p, err := policy.Preset(name)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, p)
		}
		return list
	}
	segment := &raw{window: 200_000, peak: 110_000, overhead: Overhead{Tokens: 10_000}, fixed: 10_000}
	for _, tt := range []struct {
		name     string
		policies []policy.Policy
		window   string
		want     int
	}{
		{"model", presets("off", "guard", "layered"), "model", 141_808}, // 200,000 - 8,192 - 50,000
		{"another order", presets("guard", "off"), "model", 141_808},
		{"alone", presets("layered"), "model", 195_904}, // 200,000 - 4,096
		{"share", presets("off", "guard", "layered"), "50%", 60_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, err := ParseWindow(tt.window)
			if err != nil {
				t.Fatal(err)
			}
			r := &Replayer{opts: Options{Policies: tt.policies}}
			if got := r.commonLimit(segment, w); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}
