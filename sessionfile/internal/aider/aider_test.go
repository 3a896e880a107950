package aider

import "testing"

func TestCount(t *testing.T) {
	for text, want := range map[string]int{
		"188": 188, "1,234": 1234, "2.5k": 2500, "12k": 12000, "1.5M": 1_500_000, "0": 0,
		"": 0, "k": 0, "-5": 0, "many": 0, "NaN": 0, "Inf": 0, "9999999999999": 0, "9e99M": 0,
	} {
		if got := count(text); got != want {
			t.Errorf("%q: want %d, got %d", text, want, got)
		}
	}
}

func TestMarked(t *testing.T) {
	for line, want := range map[string]string{
		"#### say  ": "say", "####   ": "", "####": "", "####  two": " two", "#### ## head": "## head",
	} {
		if got, ok := marked(line, markUser); !ok || got != want {
			t.Errorf("%q: want %q, got %q, %v", line, want, got, ok)
		}
	}
	for _, line := range []string{"", "###", "#####", "####say", " #### say", "> #### say"} {
		if got, ok := marked(line, markUser); ok {
			t.Errorf("%q: want no mark, got %q", line, got)
		}
	}
}
