package summary

import (
	"strconv"
	"strings"
)

// An outcome is what the output of a tool says about how it went.
type outcome struct {
	exit    int
	known   bool // the exit code is stated
	failed  bool
	running bool   // the command goes on after this output
	last    string // the last line that says something
	fault   string // the first line that names a fault; only if failed
}

// How much of an output is looked at: verdicts stand at its ends.
const (
	headLines   = 40
	tailLines   = 20
	statusLines = 8       // an exit code stands in so many first or last lines
	maxUnwrap   = 4 << 20 // larger outputs are not searched for a JSON wrapping
)

// exitPhrases precede an exit code at the start of a line, in lower case.
var exitPhrases = []string{
	"exit code", "exit_code", "exitcode", "exit status", "exited with code", "exited with exit code",
	"process exited with code", "process exited with exit code", "process finished with exit code",
	"command exited with code", "command failed with exit code", "command completed with exit code",
	"return code", "returncode",
}

// runningPhrase begins the line that says that a command goes on, in lower case.
const runningPhrase = "process running with session id"

// faultWords mark a line that names what went wrong, in lower case.
var faultWords = []string{
	"error", "fatal", "panic", "fail", "exception", "cannot", "not found", "no such", "denied",
	"refused", "undefined", "invalid", "timed out", "timeout", "interrupted",
}

// Fields of outputs that are wrapped in JSON, names squeezed.
var (
	outputKeys   = []string{"output", "stdout", "content"}
	exitKeys     = []string{"exitcode", "returncode", "exitstatus"}
	metadataKeys = []string{"metadata"}
)

// outcomeOf reads an output. The exit code is looked for only in that of a shell.
func outcomeOf(text string, shell, isError bool) outcome {
	var out outcome
	if shell {
		text = out.unwrap(text)
	}
	lines := endsOf(text)
	if shell && !out.known {
		lines = out.status(lines)
	}
	out.failed = isError || out.known && out.exit != 0
	for _, l := range lines {
		if _, status := exitOf(l); status && shell {
			continue
		}
		l = oneLine(untag(l), maxLine)
		if l == "" {
			continue
		}
		out.last = l
		if out.failed && (out.fault == "" || !namesFault(out.fault) && namesFault(l)) {
			out.fault = l
		}
	}
	return out
}

// unwrap takes an output out of its JSON wrapping, with the exit code there.
func (o *outcome) unwrap(text string) string {
	if len(text) > maxUnwrap || !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return text
	}
	f := fieldsOf(text)
	if raw, ok := f.find(metadataKeys); ok {
		o.exit, o.known = fieldsOf(string(raw)).number(exitKeys)
	}
	if !o.known {
		o.exit, o.known = f.number(exitKeys)
	}
	if inner := f.text(outputKeys); inner != "" {
		return inner
	}
	if o.known {
		return ""
	}
	return text
}

// status finds the exit code in the first lines, else in the last ones, and
// returns the lines without a header that ends in "Output:".
func (o *outcome) status(lines []string) []string {
	head := lines[:min(len(lines), statusLines)]
	for i, l := range head {
		if code, ok := exitOf(l); ok && !o.known {
			o.exit, o.known = code, true
		}
		o.running = o.running || strings.HasPrefix(lowerASCII(l), runningPhrase)
		if strings.TrimSpace(l) == "Output:" {
			return lines[i+1:]
		}
	}
	for i := len(lines) - 1; i >= max(0, len(lines)-statusLines) && !o.known; i-- {
		o.exit, o.known = exitOf(lines[i])
	}
	return lines
}

// exitOf reads a line such as "Exit code: 2" or "<exited with exit code 0>".
func exitOf(line string) (int, bool) {
	line = lowerASCII(strings.TrimLeft(clip(line, maxLine), " \t<[(*"))
	for _, phrase := range exitPhrases {
		rest, ok := strings.CutPrefix(line, phrase)
		if !ok {
			continue
		}
		rest = strings.TrimLeft(rest, " \t:=>")
		end := 0
		for end < len(rest) && (rest[end] >= '0' && rest[end] <= '9' || end == 0 && rest[end] == '-') {
			end++
		}
		if code, err := strconv.Atoi(rest[:end]); err == nil {
			return code, true
		}
	}
	return 0, false
}

func namesFault(line string) bool {
	line = lowerASCII(line)
	for _, w := range faultWords {
		if strings.Contains(line, w) {
			return true
		}
	}
	return false
}

// untag takes a tag off both ends of a line, as in "<error>no such file</error>".
func untag(line string) string {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "<") {
		if i := strings.IndexByte(line, '>'); i >= 0 {
			line = line[i+1:]
		}
	}
	if strings.HasSuffix(line, ">") {
		if i := strings.LastIndex(line, "</"); i >= 0 {
			line = line[:i]
		}
	}
	return line
}

// endsOf returns the first headLines and the last tailLines lines of a text, or
// all of them, without splitting what lies between.
func endsOf(text string) []string {
	var lines []string
	for len(lines) < headLines && text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		lines = append(lines, line)
		text = rest
	}
	var tail []string
	for len(tail) < tailLines && text != "" {
		i := strings.LastIndexByte(text, '\n')
		tail = append(tail, text[i+1:])
		text = text[:max(i, 0)]
	}
	for i := len(tail) - 1; i >= 0; i-- {
		lines = append(lines, tail[i])
	}
	return lines
}
