package console

import (
	"testing"
)

func TestClip(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"short", "short"},
		{"0123456789", "0123456789"},
		{"0123456789a", "012345678…"},
		{"日本語日本語", "日本語日…"},
		{"\x1b[31m", `\x1b[31m`},
	} {
		if got := Clip(c.text, 10); got != c.want {
			t.Errorf("clip(%q), want %q, got %q", c.text, c.want, got)
		}
	}
}

func TestShorten(t *testing.T) {
	for _, tt := range []struct {
		in   string
		most int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "…cd"}, {"日本語学", 3, "…語学"}, {"", 3, ""}} {
		if got := Shorten(tt.in, tt.most); got != tt.want {
			t.Errorf("shorten(%q, %d) = %q, want %q", tt.in, tt.most, got, tt.want)
		}
	}
}

func TestAtMost(t *testing.T) {
	list := []string{"a", "b", "c"}
	if got := AtMost(list, 3); len(got) != 3 {
		t.Errorf("got %q", got)
	}
	if got := AtMost(list, 2); len(got) != 3 || got[2] != "and 1 more" || list[2] != "c" {
		t.Errorf("got %q, and the list is %q now", got, list)
	}
}
