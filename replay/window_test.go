package replay

import (
	"fmt"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A replay's window is the one that the policy resolves for the capacity, with buffer
// and reserve scaled where it is small; a share sets the limit, whatever is kept besides.
func TestWindowOfPolicies(t *testing.T) {
	segment := &raw{window: 200_000, peak: 110_000, fixed: 10_000}
	for _, name := range policy.Presets() {
		p, err := policy.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range []WindowSpec{{}, {Tokens: 3}, {Tokens: 8_000}, {Tokens: 40_000}, {Tokens: 131_071}, {Tokens: 131_072}, {Tokens: 1_000_000}, {Percent: 50}, {Percent: 200}} {
			t.Run(fmt.Sprintf("%s %s", name, spec), func(t *testing.T) {
				got, note := spec.window(p, segment)
				if spec.Percent > 0 {
					if want := 10_000 + 1_000*spec.Percent; got.Limit() != want {
						t.Errorf("limit %d, want %d", got.Limit(), want)
					}
					return
				}
				capacity := spec.Tokens
				if capacity == 0 {
					capacity = segment.window
				}
				f, err := p.Resolve(policy.Stated("test", budget.Window{Capacity: capacity}))
				if err != nil {
					t.Fatal(err)
				}
				want, scaled := f.Scaled()
				if got != want.Window() || (note != "") != scaled {
					t.Errorf("got %+v, note %q, want %+v", got, note, want)
				}
				if err := got.Validate(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
