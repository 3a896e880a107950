package advice

import (
	"fmt"
	"strings"
)

// permille returns n of all.
func permille(n, all int) int64 {
	if all <= 0 {
		return 0
	}
	return int64(n) * 1000 / int64(all)
}

// percent says n of all.
func percent(n, all int) string { return fmt.Sprintf("%d%%", (permille(n, all)+5)/10) }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// span says a time in seconds, by its largest unit.
func span(seconds int) string {
	switch {
	case seconds < 60:
		return plural(seconds, "second")
	case seconds < 3600:
		return plural((seconds+30)/60, "minute")
	case seconds < 86_400:
		return plural((seconds+1800)/3600, "hour")
	}
	return plural((seconds+43_200)/86_400, "day")
}

func containsAny(s string, list []string) bool {
	for _, one := range list {
		if strings.Contains(s, one) {
			return true
		}
	}
	return false
}
