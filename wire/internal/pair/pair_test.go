package pair

import (
	"testing"

	"pgregory.net/rapid"
)

func TestResult(t *testing.T) {
	calls := []Call{{ID: "x", Name: "f"}, {ID: "own", Name: "f", Own: true}, {ID: "y", Name: "g"}}
	tests := []struct {
		name    string
		results [][2]string // id, name
		want    []string    // "" for an id of its own making
	}{
		{"by id", [][2]string{{"own", ""}}, []string{"own"}},
		{"by name, in order", [][2]string{{"", "f"}, {"", "g"}, {"", "f"}}, []string{"x", "y", "own"}},
		{"by order", [][2]string{{"", ""}, {"", ""}}, []string{"x", "own"}},
		{"an id that the client made up", [][2]string{{"made", "g"}, {"made too", "f"}}, []string{"y", "x"}},
		{"an id of no call", [][2]string{{"z", "h"}}, []string{"z"}},
		{"no call", [][2]string{{"", "h"}, {"", "h"}}, []string{"", ""}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var c Calls
			c.Begin(calls)
			seen := map[string]bool{}
			for i, r := range test.results {
				got := c.Result(r[0], r[1])
				if test.want[i] != "" && got != test.want[i] || got == "" || seen[got] {
					t.Errorf("result %d: want %q, got %q", i, test.want[i], got)
				}
				seen[got] = true
			}
		})
	}
}

func TestCopiesAreIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Calls
		c.Begin([]Call{{ID: "a", Name: "f"}, {ID: "b", Name: "f"}, {ID: "c", Name: "g"}})
		names := rapid.SliceOf(rapid.SampledFrom([]string{"", "f", "g", "h"}))
		for _, n := range names.Draw(t, "before") {
			c.Result("", n)
		}
		saved := c
		rest := names.Draw(t, "rest")
		var first []string
		for _, n := range rest {
			first = append(first, c.Result("", n))
		}
		for i, n := range rest {
			if got := saved.Result("", n); got != first[i] {
				t.Fatalf("result %d: want %q again, got %q", i, first[i], got)
			}
		}
	})
}
