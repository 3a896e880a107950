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

// decorated is a name and what was taken off it so far.
type decorated struct {
	name    string
	path    string // what stood before the last slash
	cloud   bool   // a maker before a dot, as clouds write it
	free    bool   // :free
	special bool   // something that has a price of its own
	release bool   // a release of four digits
}

// less takes one decoration off, in the order that Lookup states.
func (d decorated) less() (decorated, bool) {
	if i := strings.LastIndexByte(d.name, '/'); i >= 0 {
		return d.withoutPath(i)
	}
	if rest, ok := cutMaker(d.name); ok {
		d.name, d.cloud = rest, true
		return d, true
	}
	if i := strings.IndexAny(d.name, ":@"); i > 0 {
		mark := d.name[i+1:]
		d.free = d.free || mark == "free"
		d.special = d.special || !isVersion(mark)
		d.name = d.name[:i]
		return d, true
	}
	if rest, short, ok := cutDate(d.name); ok {
		d.name, d.release = rest, d.release || short
		return d, true
	}
	for _, suffix := range []string{"-latest", "-preview", "-exp", "-fast"} {
		if rest, ok := strings.CutSuffix(d.name, suffix); ok && rest != "" {
			d.name = rest
			d.special = d.special || suffix == "-exp" || suffix == "-fast"
			return d, true
		}
	}
	rest, ok := cutVersion(d.name)
	d.name = rest
	return d, ok
}

// withoutPath takes the path off, whose last slash is at i. A name may also be
// followed by how hard the model thinks (gpt-5.5/high).
func (d decorated) withoutPath(i int) (decorated, bool) {
	switch d.name[i+1:] {
	case "", "minimal", "low", "medium", "high", "xhigh", "max":
		d.name = d.name[:i]
		return d, d.name != ""
	}
	d.name, d.path = d.name[i+1:], d.name[:i]
	return d, true
}

// isVersion reports whether what follows a colon or @ says which release it is
// (v1:0, v1:0:200k, 20250514, default), or that it thinks, which has no price of its own.
func isVersion(mark string) bool {
	if mark == "thinking" || mark == "default" {
		return true
	}
	return mark != "" && !strings.ContainsFunc(mark, func(c rune) bool { return !strings.ContainsRune("0123456789:-k", c) })
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
// -09-2025, -05-20, -0613 or -001. short says that it was a release of four digits.
func cutDate(name string) (rest string, short, ok bool) {
	for _, shape := range []string{"-0000-00-00", "-00000000", "-00-0000", "-00-00", "-0000", "-000"} {
		cut := len(name) - len(shape)
		if cut > 0 && matches(name[cut:], shape) {
			return name[:cut], shape == "-0000", true
		}
	}
	return "", false, false
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
func dashed(name string) string { return between(name, '.', '-') }

// dotted returns name with a dot for each dash that stands between digits.
func dotted(name string) string { return between(name, '-', '.') }

// between returns name with the byte to for each byte from between digits.
func between(name string, from, to byte) string {
	if strings.IndexByte(name, from) < 0 {
		return name
	}
	b := []byte(name)
	for i := 1; i+1 < len(b); i++ {
		if b[i] == from && isDigit(b[i-1]) && isDigit(b[i+1]) {
			b[i] = to
		}
	}
	return string(b)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
