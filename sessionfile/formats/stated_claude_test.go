package formats

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// TestStreamCostOfSeveralProcesses: a result line has the cost of its process so far. Of a
// conversation that several processes went on with the cost is that of all of them, whether the
// next one's first is less, or another conversation stands between.
func TestStreamCostOfSeveralProcesses(t *testing.T) {
	run := func(id, dollars string) string {
		return `{"type":"system","subtype":"init","session_id":"` + id + `","model":"m"}` + "\n" +
			`{"type":"result","subtype":"success","session_id":"` + id + `","num_turns":1,"total_cost_usd":` + dollars + `,"usage":{"input_tokens":9,"output_tokens":1}}` + "\n"
	}
	for name, c := range map[string]struct {
		text string
		want int64 // millionths of a dollar
	}{
		"one process, two runs":       {run("s", "0.05") + run("s", "0.07"), 70_000},
		"a process of two runs after": {run("s", "0.05") + run("s", "0.01") + run("s", "0.02"), 70_000},
		"another conversation before": {run("s", "0.05") + run("r", "0.09") + run("s", "0.06") + run("s", "0.08"), 130_000},
		"a run that says no cost":     {run("s", "0.05") + run("s", "0") + run("s", "0.07"), 70_000},
	} {
		all := readText(t, c.text).Stated
		figures := all[len(all)-1].Figures
		if last := figures[len(figures)-1]; last.Name != sessionfile.FigureCost || last.Value != c.want*1_000_000 {
			t.Errorf("%s: want a cost of %d millionths, got %+v", name, c.want, last)
		}
	}
}
