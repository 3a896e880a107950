package reports

import (
	"testing"
)

// TestArguments: a path is shortened from the left, a command from the right, and names are left
// out where they say nothing.
func TestArguments(t *testing.T) {
	for _, c := range []struct {
		arguments string
		columns   int
		want      string
	}{
		{`{"file_path":"/home/dev/quayside/schedule/planner.go"}`, 60, "/home/dev/quayside/schedule/planner.go"},
		{`{"file_path":"/home/dev/quayside/schedule/planner.go"}`, 20, "…schedule/planner.go"},
		{`{"path":"schedule/planner.go","offset":30}`, 60, "schedule/planner.go  offset=30"},
		{`{"path":"schedule/planner.go","offset":30}`, 20, "schedule/planner.go"},
		{`{"command":"go test ./schedule -run TestPlanWeek"}`, 20, "go test ./schedule …"},
		{`{"command":["bash","-lc","ls"],"workdir":"/w"}`, 40, `bash -lc ls  workdir="/w"`},
		{`{"depth":3}`, 20, `{"depth":3}`},
		{`*** Begin Patch`, 20, "*** Begin Patch"},
		{`{"command":"git log --oneline && ls -R . | grep -v …`, 30, "git log --oneline && ls -R . …"},
		{`{"command":"\u001b[31mred"}`, 30, `\x1b[31mred`},
		{`{`, 20, "{"},
		{"", 20, ""},
	} {
		if got := argumentsText(c.arguments, c.columns); got != c.want {
			t.Errorf("%s in %d columns: want %q, got %q", c.arguments, c.columns, c.want, got)
		}
	}
}
