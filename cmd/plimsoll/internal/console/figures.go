package console

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
)

// Count writes a number with separators; empty where there is none.
func Count(n int) string {
	if n <= 0 {
		return ""
	}
	return edit.Thousands(n)
}

// Percent writes a permille as a percentage.
func Percent(permille int) string {
	if permille%10 == 0 {
		return strconv.Itoa(permille/10) + "%"
	}
	return fmt.Sprintf("%d.%d%%", permille/10, permille%10)
}

// Share is Ratio with a word for what is less than a percent.
func Share(part, whole int) string {
	if text := Ratio(part, whole); text != "0%" {
		return text
	}
	return "<1%"
}

// Times says how often something was.
func Times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// Clock writes Unix milliseconds in UTC.
func Clock(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04") }

// SignedPPM writes parts per million as a percentage with its sign.
func SignedPPM(n int) string {
	if n < 0 {
		return "-" + PPM(-n)
	}
	return "+" + PPM(n)
}

// Plural writes a number with its noun.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Ratio writes part of whole as a percentage; empty where there is no whole.
func Ratio(part, whole int) string {
	if whole == 0 {
		return ""
	}
	return strconv.Itoa(int((int64(part)*100+int64(whole)/2)/int64(whole))) + "%"
}

// PPM writes parts per million as a percentage.
func PPM(n int) string { return fmt.Sprintf("%d.%02d%%", n/10_000, n%10_000/100) }

// Homely writes a path with ~ for the home folder.
func Homely(path string) string {
	home, err := os.UserHomeDir()
	if rest, ok := strings.CutPrefix(path, home); err == nil && ok && home != "" && (rest == "" || os.IsPathSeparator(rest[0])) {
		return "~" + rest
	}
	return path
}

// Ago says how long ago something was, by its largest unit.
func Ago(t, now time.Time) string {
	switch d := now.Sub(t); {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(now.Sub(t).Hours()/24))
}

// Money is a cost; empty if nobody knows it.
func Money(m catalog.Money) string {
	if !m.Known {
		return ""
	}
	return m.String()
}
