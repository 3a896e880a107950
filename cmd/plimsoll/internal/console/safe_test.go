package console

import (
	"bytes"
	"encoding/json"
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
		if got := Safe(in); got != want {
			t.Errorf("safe(%q) = %q, want %q", in, got, want)
		}
	}
}

// Whatever comes in, nothing that a terminal obeys comes out, and what was safe is
// left as it is.
func TestSafeAlways(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		out := Safe(in)
		if strings.ContainsFunc(out, Hidden) {
			t.Fatalf("safe(%q) = %q", in, out)
		}
		if Safe(out) != out {
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
		if err := PrintJSON(&b, in); err != nil {
			t.Fatal(err)
		}
		line := strings.TrimSuffix(b.String(), "\n")
		if strings.ContainsFunc(line, Hidden) {
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
