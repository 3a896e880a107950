package config

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// figure returns the integer that n states for a field of the given unit, as
// digits that JSON accepts, or what the field would accept instead. No number is
// ever taken as a float: shares are moved by their digits.
func figure(n *node, unit policy.Unit) (digits, want string) {
	switch s := n.text; {
	case n.kind == number && !strings.Contains(s, "."):
		digits = integer(s)
	case n.kind == number && unit == policy.UnitPermille:
		digits = shift(s, 3)
	case n.kind == text && unit == policy.UnitPermille && strings.HasSuffix(s, "%"):
		digits = shift(strings.TrimSuffix(s, "%"), 1)
	case n.kind == text && unit == policy.UnitTokens && strings.HasSuffix(strings.ToLower(s), "k"):
		digits = multiple(s[:len(s)-1], "000")
	case n.kind == text && unit == policy.UnitTokens && strings.HasSuffix(strings.ToLower(s), "m"):
		digits = multiple(s[:len(s)-1], "000000")
	case n.kind == text && (unit == policy.UnitTokens || unit == policy.UnitBytes): // in quotes
		digits = integer(s)
	}
	if digits != "" {
		return digits, ""
	}
	switch unit {
	case policy.UnitPermille:
		return "", "permille such as 800, a decimal with at most three digits after the point such as 0.8, or percent such as 80%"
	case policy.UnitTokens:
		return "", "an integer, or thousands or millions such as 128k and 1m"
	}
	return "", "an integer"
}

// integer returns the digits of a decimal integer, without the underscores and
// the plus sign that YAML and TOML allow; "" if s is none. A zero in front is
// refused, because some readers take such a number as octal.
func integer(s string) string {
	s = strings.TrimPrefix(s, "+")
	s, minus := strings.CutPrefix(s, "-")
	s = strings.ReplaceAll(s, "_", "")
	if !isDigits(s) || len(s) > 1 && s[0] == '0' {
		return ""
	}
	if minus && s != "0" {
		return "-" + s
	}
	return s
}

// shift moves the point of an unsigned decimal to the right by places, which
// must leave nothing behind it; "" if s is no such number.
func shift(s string, places int) string {
	whole, part, dotted := strings.Cut(strings.TrimPrefix(s, "+"), ".")
	if !isDigits(whole) || dotted && !isDigits(part) || len(part) > places {
		return ""
	}
	out := strings.TrimLeft(whole+part+strings.Repeat("0", places-len(part)), "0")
	if out == "" {
		return "0"
	}
	return out
}

// multiple returns s with zeros behind it; "" if s is no unsigned integer.
func multiple(s, zeros string) string {
	digits := integer(s)
	switch {
	case digits == "" || digits[0] == '-':
		return ""
	case digits == "0":
		return digits
	}
	return digits + zeros
}

// isDigits reports whether s is one or more of 0 to 9, and short enough for a
// number that anyone would mean.
func isDigits(s string) bool {
	const most = 18
	return s != "" && len(s) <= most && strings.Trim(s, "0123456789") == ""
}

// describe says what a node is, for a message.
func describe(n *node) string {
	switch n.kind {
	case object:
		return "an object"
	case list:
		return "a list"
	case null:
		return "nothing"
	case text:
		const most = 60
		if keyLike.MatchString(n.text) {
			return "what looks like a key"
		}
		return fmt.Sprintf("%.*q", most, n.text)
	}
	return n.text
}
