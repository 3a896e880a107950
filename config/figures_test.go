package config

import (
	"fmt"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/policy"
)

func TestFigures(t *testing.T) {
	for _, c := range []struct {
		kind kind
		text string
		unit policy.Unit
		want string // "": refused
	}{
		{number, "800", policy.UnitPermille, "800"},
		{number, "0.8", policy.UnitPermille, "800"},
		{number, "0.80", policy.UnitPermille, "800"},
		{number, "0.925", policy.UnitPermille, "925"},
		{number, "0.001", policy.UnitPermille, "1"},
		{number, "0.0", policy.UnitPermille, "0"},
		{number, "1.0", policy.UnitPermille, "1000"},
		{number, "1", policy.UnitPermille, "1"},
		{number, "2.09", policy.UnitPermille, "2090"},
		{number, "-0.5", policy.UnitPermille, ""},
		{number, "0.9255", policy.UnitPermille, ""},
		{number, "0.8000", policy.UnitPermille, ""},
		{number, ".8", policy.UnitPermille, ""},
		{number, "8.", policy.UnitPermille, ""},
		{number, "8e-1", policy.UnitPermille, ""},
		{number, "1.2.3", policy.UnitPermille, ""},
		{number, "inf", policy.UnitPermille, ""},
		{text, "80%", policy.UnitPermille, "800"},
		{text, "92.5%", policy.UnitPermille, "925"},
		{text, "100%", policy.UnitPermille, "1000"},
		{text, "0%", policy.UnitPermille, "0"},
		{text, "92.55%", policy.UnitPermille, ""},
		{text, "%", policy.UnitPermille, ""},
		{text, "80 %", policy.UnitPermille, ""},
		{text, "80%", policy.UnitTokens, ""},
		{text, "0.8", policy.UnitPermille, ""},
		{number, "128000", policy.UnitTokens, "128000"},
		{number, "128_000", policy.UnitTokens, "128000"},
		{number, "+5", policy.UnitTokens, "5"},
		{number, "-5", policy.UnitTokens, "-5"},
		{number, "-0", policy.UnitTokens, "0"},
		{number, "007", policy.UnitTokens, ""},
		{number, "0.5", policy.UnitTokens, ""},
		{number, "99999999999999999999", policy.UnitTokens, ""},
		{text, "128k", policy.UnitTokens, "128000"},
		{text, "1m", policy.UnitTokens, "1000000"},
		{text, "0k", policy.UnitTokens, "0"},
		{text, "k", policy.UnitTokens, ""},
		{text, "-1k", policy.UnitTokens, ""},
		{text, "1.5m", policy.UnitTokens, ""},
		{text, "1K", policy.UnitTokens, "1000"},
		{text, "1M", policy.UnitTokens, "1000000"},
		{text, "1kk", policy.UnitTokens, ""},
		{text, "128000", policy.UnitTokens, "128000"},
		{text, "12288", policy.UnitBytes, "12288"},
		{text, "", policy.UnitTokens, ""},
		{text, "4k", policy.UnitBytes, ""},
		{text, "4k", policy.UnitCount, ""},
		{number, "0.5", policy.UnitCount, ""},
	} {
		got, want := figure(&node{kind: c.kind, text: c.text}, c.unit)
		if got != c.want || (want == "") != (c.want != "") {
			t.Errorf("figure(%q, %s) = %q, %q, want %q", c.text, c.unit, got, want, c.want)
		}
	}
}

// A share means the same however it is written.
func TestSharesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 99999).Draw(t, "permille")
		for _, form := range []*node{
			{kind: number, text: strconv.Itoa(n)},
			{kind: number, text: fmt.Sprintf("%d.%03d", n/1000, n%1000)},
			{kind: text, text: fmt.Sprintf("%d.%d%%", n/10, n%10)},
		} {
			if got, _ := figure(form, policy.UnitPermille); got != strconv.Itoa(n) {
				t.Fatalf("figure(%q) = %s, want %d", form.text, got, n)
			}
		}
	})
}
