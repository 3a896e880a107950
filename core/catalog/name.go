package catalog

import "strings"

// maxDecorations bounds how often a name is tried again; each try takes one
// decoration off.
const maxDecorations = 16

// maxName bounds the work on a name; no model's name is longer.
const maxName = 256

// clean returns id in lower case without a suffix in brackets, and whether that
// suffix asks for the long window.
func clean(id string) (name string, long bool) {
	if len(id) > maxName {
		return "", false
	}
	name = strings.ToLower(strings.TrimSpace(id))
	if i := strings.LastIndexByte(name, '['); i >= 0 && strings.HasSuffix(name, "]") {
		long = name[i:] == "[1m]"
		name = name[:i]
	}
	return name, long
}

// undecorate takes one decoration off, in the order that Lookup states.
func undecorate(name string) (string, bool) {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return undecoratePath(name, i)
	}
	if rest, ok := cutMaker(name); ok {
		return rest, true
	}
	if i := strings.IndexAny(name, ":@"); i > 0 {
		return name[:i], true
	}
	if rest, ok := cutDate(name); ok {
		return rest, true
	}
	for _, suffix := range []string{"-latest", "-preview", "-exp", "-fast"} {
		if rest, ok := strings.CutSuffix(name, suffix); ok && rest != "" {
			return rest, true
		}
	}
	return cutVersion(name)
}

// undecoratePath takes the path off name, whose last slash is at i. A name may
// also be followed by how hard the model thinks (gpt-5.5/high).
func undecoratePath(name string, i int) (string, bool) {
	switch name[i+1:] {
	case "", "minimal", "low", "medium", "high", "xhigh", "max":
		return name[:i], name[:i] != ""
	}
	return name[i+1:], true
}

// cutMaker takes a maker off that stands before a dot (openai.gpt-5.6-luna,
// us.anthropic.claude-sonnet-4-5). It is letters only, which no number of a
// version is.
func cutMaker(name string) (string, bool) {
	maker, rest, ok := strings.Cut(name, ".")
	if !ok || maker == "" || rest == "" {
		return "", false
	}
	for i := range len(maker) {
		if maker[i] < 'a' || maker[i] > 'z' {
			return "", false
		}
	}
	return rest, true
}

// cutDate takes a date or a release number off the end: -20251101, -2025-11-01,
// -09-2025, -05-20, -0613 or -001.
func cutDate(name string) (string, bool) {
	for _, shape := range []string{"-0000-00-00", "-00000000", "-00-0000", "-00-00", "-0000", "-000"} {
		cut := len(name) - len(shape)
		if cut > 0 && matches(name[cut:], shape) {
			return name[:cut], true
		}
	}
	return "", false
}

// cutVersion takes the release off that a cloud adds: -v1.
func cutVersion(name string) (string, bool) {
	cut := len(name) - len("-v0")
	if cut > 0 && matches(name[cut:], "-v0") {
		return name[:cut], true
	}
	return "", false
}

// matches reports whether s has the form of shape, in which 0 stands for a digit.
func matches(s, shape string) bool {
	for i := range len(shape) {
		digit := s[i] >= '0' && s[i] <= '9'
		if shape[i] == '0' && !digit || shape[i] != '0' && s[i] != shape[i] {
			return false
		}
	}
	return true
}

// dashed returns name with a dash for each dot that stands between digits.
func dashed(name string) string {
	if !strings.Contains(name, ".") {
		return name
	}
	b := []byte(name)
	for i := 1; i+1 < len(b); i++ {
		if b[i] == '.' && isDigit(b[i-1]) && isDigit(b[i+1]) {
			b[i] = '-'
		}
	}
	return string(b)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
