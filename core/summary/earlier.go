package summary

import (
	"slices"
	"strconv"
	"strings"
)

// A record is what earlier summaries said, taken apart again.
type record struct {
	free     map[string][]item   // free texts, by section
	lines    map[string][]string // lines, by section, but for files and commands
	files    []File
	commands []Command
	foreign  string // what was not in our form
	seen     []string
}

// read adds an earlier summary. What is not in the form of [Write] is kept as it
// is; nothing is dropped but the heading under which a view shows it, the one line
// before the signature: the new summary has its own.
func (r *record) read(text string) {
	if blank(text) || slices.Contains(r.seen, text) {
		return
	}
	r.seen = append(r.seen, text)
	heading, body, ours := strings.Cut("\n"+text+"\n", "\n"+signature+"\n")
	beside := false // a summary that is not ours
	if !ours {
		heading, body, beside = strings.Cut("\n"+text+"\n", "\n"+factsSignature+"\n")
		ours = beside
	}
	heading = strings.TrimSpace(heading)
	if !ours || beside || strings.Contains(heading, "\n") {
		r.addForeign(heading)
	}
	if !ours {
		return
	}
	if r.free == nil {
		r.free, r.lines = map[string][]item{}, map[string][]string{}
	}
	title := ""
	for body != "" {
		line, rest, _ := strings.Cut(body, "\n")
		switch {
		case isTitle(line):
			title = line
		case title != "" && strings.HasPrefix(line, "- "):
			r.readLine(title, line)
		case line == "":
		default:
			rest = r.readFree(title, line, rest)
		}
		body = rest
	}
}

func isTitle(line string) bool {
	is := func(s share) bool { return s.title == line }
	return slices.ContainsFunc(shares, is) || slices.ContainsFunc(factShares, is)
}

// readLine reads a line, "- " included.
func (r *record) readLine(title, line string) {
	switch title {
	case titleChanged, titleRead:
		if f, ok := parseFile(line[2:]); ok {
			r.files = append(r.files, f)
			return
		}
	case titleCommands:
		if c, ok := parseCommand(line[2:]); ok {
			r.commands = append(r.commands, c)
			return
		}
	}
	if !slices.Contains(r.lines[title], line) {
		r.lines[title] = append(r.lines[title], line)
	}
}

// settle drops the lines that newer messages made untrue: steps of a plan that was
// made anew, todos that are done, errors of what works now, and calls that were
// open, since a summarised call has its result in the same span.
func (r *record) settle(c *Collector) {
	if r.lines == nil {
		return
	}
	r.lines[titleOpen] = slices.DeleteFunc(r.lines[titleOpen], func(line string) bool {
		said, isStep := strings.CutPrefix(line[2:], stepPrefix)
		return isStep && c.planned || c.finished[fold(said)] || strings.HasPrefix(said, openPrefix)
	})
	r.lines[titleErrors] = slices.DeleteFunc(r.lines[titleErrors], func(line string) bool {
		for at := range line {
			if at > 3 && strings.HasPrefix(line[at:], "] ") && c.passed[line[3:at]] {
				return true
			}
		}
		return false
	})
}

// readFree reads a free text whose first line is given, and returns what follows.
func (r *record) readFree(title, line, rest string) string {
	name, size, ok := freeHead(line)
	if !ok || title == "" || size > len(rest) {
		r.addForeign(line)
		return rest
	}
	body := rest[:size]
	switch title {
	case titleEarlier:
		r.addForeign(body)
	case titleState: // only the newest state counts
		r.free[title] = []item{{name: name, body: body}}
	default:
		if it := (item{name: name, body: body}); !slices.Contains(r.free[title], it) {
			r.free[title] = append(r.free[title], it)
		}
	}
	return rest[size:]
}

// freeHead reads the line before a free text, "[name, N bytes]".
func freeHead(line string) (name string, size int, ok bool) {
	inner, ok := strings.CutSuffix(line, " bytes]")
	if !ok || !strings.HasPrefix(inner, "[") {
		return "", 0, false
	}
	at := strings.LastIndex(inner, ", ")
	if at < 1 {
		return "", 0, false
	}
	size, err := strconv.Atoi(inner[at+2:])
	return inner[1:at], size, err == nil && size >= 0 && at > 1
}

func (r *record) addForeign(text string) {
	if text == "" {
		return
	}
	if r.foreign != "" {
		r.foreign += "\n"
	}
	r.foreign += text
}
