package ground

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// names looks at the names in a text.
func (e *extractor) names(text string) {
	for chunk := range strings.FieldsFuncSeq(text, separates) {
		if k, name, ok := nameOf(strings.Trim(chunk, ".,:;-@%+^~")); ok {
			e.add(k, name)
			continue
		}
		for word := range strings.FieldsFuncSeq(chunk, func(r rune) bool { return !inWord(r) }) {
			switch {
			case isNumber(word):
				e.add(Number, word)
			case isHash(word):
				e.add(Hash, word)
			case isIdent(word):
				e.add(Ident, word)
			}
		}
	}
}

// separates reports whether no path and no URL goes on behind r.
func separates(r rune) bool {
	return r <= ' ' || strings.ContainsRune("\"'`()[]{}<>,;=|&*!?#\\", r)
}

// inWord reports whether r is part of an identifier.
func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return isWordByte(byte(r)) //nolint:gosec // ASCII
	}
	return unicode.IsLetter(r)
}

// nameOf returns what a chunk is as a whole, if it is a path, a URL or a UUID.
func nameOf(chunk string) (Kind, string, bool) {
	switch {
	case strings.Contains(chunk, "://"):
		return URL, strings.TrimRight(chunk, "/."), len(chunk) > len("https://")
	case isUUID(chunk):
		return Hash, chunk, true
	}
	path, _, _ := strings.Cut(chunk, ":") // of a line
	path = strings.TrimRight(path, "/")
	return Path, path, isPath(path) && !strings.Contains(common, " "+path+" ")
}

// isPath reports whether a chunk names a file: it says its folder, and either begins like a
// path, or ends like a file, or has three elements; or it ends as files of code and text do.
func isPath(chunk string) bool {
	if len(chunk) < 4 || !strings.ContainsFunc(chunk, unicode.IsLetter) || strings.ContainsAny(chunk, "$^+%@") {
		return false
	}
	slashes := strings.Count(chunk, "/")
	base := chunk[strings.LastIndexByte(chunk, '/')+1:]
	dot := strings.LastIndexByte(base, '.')
	ends := dot > 0 && isExtension(base[dot+1:])
	if slashes == 0 {
		return ends
	}
	return ends || slashes >= 2 || chunk[0] == '/' || chunk[0] == '.' || chunk[0] == '~'
}

// extensions are those of files that agents work with.
const extensions = " go mod sum ts tsx js jsx mjs cjs json jsonl json5 yaml yml toml md mdx txt py pyi ipynb rs rb java kt kts c h cc cpp hpp cs swift" +
	" php sh bash zsh fish ps1 bat sql css scss sass less html htm xml svg png jpg jpeg gif webp pdf csv tsv lock log cfg conf ini env proto graphql" +
	" vue svelte astro dart ex exs erl hs lua pl r scala clj tf tmpl tpl patch diff snap test zip gz tar wasm map db sqlite "

func isExtension(ext string) bool {
	return ext != "" && strings.Contains(extensions, " "+strings.ToLower(ext)+" ")
}

// isIdent reports whether a word looks like an identifier, which no one writes by chance,
// and is none that every program has. What begins with a figure is a number with its unit.
func isIdent(w string) bool {
	if len(w) < 4 || len(w) > 100 || '0' <= w[0] && w[0] <= '9' {
		return false
	}
	var camel, digit, snake, dollar bool
	lower := false
	for i, r := range w {
		switch {
		case unicode.IsUpper(r):
			camel = camel || lower
			lower = false
		case unicode.IsLetter(r):
			lower = true
		case r == '_':
			snake = snake || i > 0 && i < len(w)-1
		case r == '$':
			dollar = dollar || len(w) > 4
		default:
			digit = true
		}
	}
	return (camel || digit || snake || dollar) && !strings.Contains(common, " "+w+" ")
}

// isNumber reports whether a word is a number that one must have seen: not a round one, and
// not one of three digits, which stand somewhere in any long text.
func isNumber(w string) bool {
	if len(w) < 4 || len(w) > 20 || strings.HasSuffix(w, "000") {
		return false
	}
	return !strings.ContainsFunc(w, func(r rune) bool { return r < '0' || r > '9' })
}

// isHash reports whether a word is hexadecimal digits, with figures among them.
func isHash(w string) bool {
	if len(w) < 7 || len(w) > 128 {
		return false
	}
	letter, digit := false, false
	for _, r := range w {
		switch {
		case '0' <= r && r <= '9':
			digit = true
		case 'a' <= r && r <= 'f', 'A' <= r && r <= 'F':
			letter = true
		default:
			return false
		}
	}
	return letter && digit
}

// isUUID reports whether a chunk has the form 8-4-4-4-12.
func isUUID(w string) bool {
	if len(w) != 36 {
		return false
	}
	for i, r := range w {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (r == '-') || !dash && !strings.ContainsRune("0123456789abcdefABCDEF", r) {
			return false
		}
	}
	return true
}

// The bounds of a quoted string.
const (
	leastQuoted = 6
	mostQuoted  = 200
)

// quoted looks at the strings in quotes that end on their line. An apostrophe opens none.
func (e *extractor) quoted(text string) {
	for at := 0; at < len(text); at++ {
		q := text[at]
		if q != '"' && q != '\'' && q != '`' || at > 0 && isWordByte(text[at-1]) {
			continue
		}
		n := strings.IndexAny(text[at+1:], string(q)+"\n")
		if n < 0 || text[at+1+n] == '\n' {
			continue
		}
		inner := strings.TrimSpace(text[at+1 : at+1+n])
		at += n + 1
		if at+1 < len(text) && isWordByte(text[at+1]) || len(inner) < leastQuoted || len(inner) > mostQuoted {
			continue
		}
		if !strings.ContainsFunc(inner, unicode.IsLetter) || !strings.ContainsAny(inner, " .:-/()[]{}=<>") || strings.Contains(common, " "+inner+" ") {
			continue // a plain word is written without knowing any text
		}
		e.add(Quoted, inner)
	}
}

// isWordByte is inWord for ASCII; what is not is asked of its rune.
func isWordByte(b byte) bool {
	return b == '_' || b == '$' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}
