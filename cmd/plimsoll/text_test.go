package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSafe(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		"sessions/a b-ü 日本 👩‍🚀":  "sessions/a b-ü 日本 👩‍🚀",
		"\x1b[31mred\x1b[0m":     `\x1b[31mred\x1b[0m`,
		"a\nb\tc\rd":             `a\nb\tc\rd`,
		"\u009b2J":               `\u009b2J`,
		"cod\u202egnp.exe":       `cod\u202egnp.exe`,
		"\u2028\u2029\ufeff":     `\u2028\u2029\ufeff`,
		"\U000e0041":             `\udb40\udc41`, // an invisible tag character
		"caf\xe9":                `caf\xe9`,
		"\x7f\x00":               `\x7f\x00`,
		"half \xf0\x9f\x98 face": `half \xf0\x9f\x98 face`,
	} {
		if got := safe(in); got != want {
			t.Errorf("safe(%q) = %q, want %q", in, got, want)
		}
	}
}

// Whatever comes in, nothing that a terminal obeys comes out, and what was safe is
// left as it is.
func TestSafeAlways(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		out := safe(in)
		if strings.ContainsFunc(out, hidden) {
			t.Fatalf("safe(%q) = %q", in, out)
		}
		if safe(out) != out {
			t.Fatalf("safe(%q) = %q, and that is not safe", in, out)
		}
	})
}

// JSON that is printed says the same as JSON that is not, and a terminal obeys
// nothing in it.
func TestPrintJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.String())).Draw(t, "value")
		var b bytes.Buffer
		if err := printJSON(&b, in); err != nil {
			t.Fatal(err)
		}
		line := strings.TrimSuffix(b.String(), "\n")
		if strings.ContainsFunc(line, hidden) {
			t.Fatalf("printed %q", line)
		}
		out := map[string][]string{}
		if err := json.Unmarshal([]byte(line), &out); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(in, out); d != "" {
			t.Fatal(d)
		}
	})
}

func TestPrintError(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"plain", errors.New("count: no file"), "plimsoll: count: no file\n"},
		{"hint", usage(errors.New("no"), "do"), "plimsoll: no\nhint: do\n"},
		{"lines", errors.New("one\ntwo"), "plimsoll: one\nplimsoll: two\n"},
		{"controls", fmt.Errorf("open \x1b[2J: %w", errors.New("gone")), `plimsoll: open \x1b[2J: gone` + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			printError(&b, tt.err)
			if b.String() != tt.want {
				t.Errorf("got %q, want %q", b.String(), tt.want)
			}
		})
	}
}

func TestShorten(t *testing.T) {
	for _, tt := range []struct {
		in   string
		most int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "…cd"}, {"日本語学", 3, "…語学"}, {"", 3, ""}} {
		if got := shorten(tt.in, tt.most); got != tt.want {
			t.Errorf("shorten(%q, %d) = %q, want %q", tt.in, tt.most, got, tt.want)
		}
	}
}

func TestAtMost(t *testing.T) {
	list := []string{"a", "b", "c"}
	if got := atMost(list, 3); len(got) != 3 {
		t.Errorf("got %q", got)
	}
	if got := atMost(list, 2); len(got) != 3 || got[2] != "and 1 more" || list[2] != "c" {
		t.Errorf("got %q, and the list is %q now", got, list)
	}
}
