package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/reports"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// What findings say of a policy is what plimsoll replay prints of the same session.
func TestFindingsAreReplays(t *testing.T) {
	for _, name := range []string{"session.jsonl", "pi.jsonl"} { // one segment, and several
		path := filepath.Join(repo, "examples", name)
		s, err := formats.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		found := replayOf(t.Context(), s, "")
		if found == nil {
			t.Fatalf("%s: want it to be replayed", name)
		}
		var out, errs bytes.Buffer
		f := replayFlags{policies: []string{reports.PolicyOff, "balanced"}, windows: []string{"model"}, judge: true, json: true}
		if err := runReplay(t.Context(), streams{strings.NewReader(""), &out, &errs}, f, []string{path}); err != nil {
			t.Fatal(err)
		}
		paid, cost, peak := catalog.Dollars(0), catalog.Dollars(0), 0
		for d := json.NewDecoder(&out); d.More(); {
			var res replay.Result
			if err := d.Decode(&res); err != nil {
				t.Fatal(err)
			}
			for _, run := range res.Runs {
				if run.Policy == reports.PolicyOff {
					paid = paid.Add(run.CostUSD)
					continue
				}
				cost, peak = cost.Add(run.CostUSD), max(peak, run.PeakSent)
			}
		}
		if !cost.Known || found.Paid.String() != paid.String() || found.CostUSD.String() != cost.String() || found.Peak != peak {
			t.Errorf("%s: want %v, %v and a peak of %d, got %+v", name, paid, cost, peak, *found)
		}
	}
}
