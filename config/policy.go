package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"

	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// mostBytes bounds a policy file. The presets have at most 4 kB.
const mostBytes = 64 << 10

// A FileError holds everything that is wrong with one file, in the order of its
// lines.
type FileError struct {
	File     string
	Problems []Problem
}

// A Problem is one thing that is wrong with a file.
type Problem struct {
	Line, Column int    // from 1; 0: the file as a whole
	Text         string // such as: low_water: out of range, want 0 to 999, got 1000
}

// Error implements error, with a line file:line:column: text for each problem.
func (e *FileError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = fmt.Sprintf("%s:%d:%d: %s", e.File, p.Line, p.Column, p.Text)
		if p.Line == 0 {
			lines[i] = fmt.Sprintf("%s: %s", e.File, p.Text)
		}
	}
	return "config: load policy: " + strings.Join(lines, "\n")
}

// A problem is a Problem on its way; as an error it ends the reading of a file.
type problem struct {
	at   place
	what string
}

func (p *problem) Error() string { return p.what }

// LoadPolicy reads and checks the policy in the regular file at path: by its extension
// .yaml, .yml, .toml or .json, else by its content. The error is a *FileError if
// the file could be read, with all faults and where they stand.
func LoadPolicy(path string) (policy.Policy, error) {
	data, err := readRegular(path)
	if err != nil {
		return policy.Policy{}, fmt.Errorf("config: load policy: %w", err)
	}
	return ParsePolicy(path, data)
}

// ParsePolicy is LoadPolicy of a file whose content the caller has. The name
// tells the format and stands in errors; nothing is read.
func ParsePolicy(name string, data []byte) (policy.Policy, error) {
	p, problems := parse(name, data)
	if len(problems) == 0 {
		return p, nil
	}
	e := &FileError{File: name}
	slices.SortStableFunc(problems, func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.at.line, b.at.line), cmp.Compare(a.at.column, b.at.column))
	})
	for _, p := range problems {
		e.Problems = append(e.Problems, Problem{Line: p.at.line, Column: p.at.column, Text: p.what})
	}
	return policy.Policy{}, e
}

func parse(name string, data []byte) (policy.Policy, []problem) {
	tree, err := read(name, data)
	if err != nil {
		if p, ok := errors.AsType[*problem](err); ok {
			return policy.Policy{}, []problem{*p}
		}
		return policy.Policy{}, []problem{{what: err.Error()}}
	}
	if tree.kind != object {
		return policy.Policy{}, []problem{{tree.at, "want the fields of a policy, got " + describe(tree)}}
	}
	twice := rename(tree)
	tree, problems := extend(tree)
	w := writer{places: map[string]place{}, problems: slices.Concat(twice, problems)}
	w.value("", tree, nil)
	p, err := policy.Parse(w.out.Bytes())
	w.faults(err)
	if len(w.problems) == 0 {
		w.faults(policy.Validate(p))
	}
	if why := reserved(p); len(w.problems) == 0 && why != "" {
		w.problems = append(w.problems, problem{w.places["name"], why})
	}
	return p, w.problems
}

// documentKeys are keys of a source document that have another form in a policy
// (R001-11).
var documentKeys = map[string]string{
	"summaryPrompt": "summary_prompt", "summaryDirectives": "summary_directives",
	"retainPrompt": "retain_prompt", "retainDirectives": "retain_directives",
}

// rename gives the keys of a document the names that they have in a policy.
func rename(tree *node) (problems []problem) {
	for i, m := range tree.members {
		name, ok := documentKeys[m.name]
		switch {
		case ok && tree.get(name) != nil:
			problems = append(problems, problem{m.value.at, fmt.Sprintf("%s: stated as %s, too, want it once", m.name, name)})
		case ok:
			tree.members[i].name = name
		}
	}
	return problems
}

// read turns a file of any format into a tree.
func read(name string, data []byte) (*node, error) {
	if len(data) > mostBytes {
		return nil, &problem{what: fmt.Sprintf("want at most %d bytes, got more", mostBytes)}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) {
		return nil, &problem{placeAt(data, validPrefix(data)), "want UTF-8 text, got other bytes"}
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return readYAML(data)
	case ".toml":
		return readTOML(data)
	case ".json":
		return readJSON(data)
	}
	return readAny(data)
}

// validPrefix returns how many bytes of data are UTF-8 before the first that is not.
func validPrefix(data []byte) int {
	at := 0
	for at < len(data) {
		r, n := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return at
}

// readAny tells a format by its content: a JSON text begins with a brace, and no
// text that states a field is both TOML and YAML.
func readAny(data []byte) (*node, error) {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		if json.Valid(data) {
			return readJSON(data)
		}
		return readYAML(data) // its flow style begins with a brace as well
	}
	var fields map[string]any
	if toml.Unmarshal(data, &fields) == nil {
		return readTOML(data)
	}
	return readYAML(data)
}

// A writer turns a tree into the JSON form of the core, and remembers where each
// field stood.
type writer struct {
	out      bytes.Buffer
	places   map[string]place // of fields, named as in a policy.Fault
	problems []problem
}

// value writes the field called path. parent is the object that it belongs to.
func (w *writer) value(path string, n, parent *node) {
	if n.at != (place{}) {
		w.places[path] = n.at
	}
	switch n.kind {
	case object:
		w.object(path, n)
	case list:
		w.list(path, n)
	case null:
		w.out.WriteString("null")
	case flag:
		w.out.WriteString(n.text)
	default:
		w.scalar(path, n, unitOf(path, parent))
	}
}

func (w *writer) object(path string, n *node) {
	prefix := path
	if prefix != "" {
		prefix += "."
	}
	w.out.WriteByte('{')
	for i, m := range n.members {
		if i > 0 {
			w.out.WriteByte(',')
		}
		w.string(m.name)
		w.out.WriteByte(':')
		w.value(prefix+m.name, m.value, n)
	}
	w.out.WriteByte('}')
}

func (w *writer) list(path string, n *node) {
	w.out.WriteByte('[')
	for i, item := range n.items {
		if i > 0 {
			w.out.WriteByte(',')
		}
		w.value(path+"["+strconv.Itoa(i)+"]", item, n)
	}
	w.out.WriteByte(']')
}

// scalar writes a text or a number. A number that stands where none belongs is
// written as a text, so that the core refuses it by its field.
func (w *writer) scalar(path string, n *node, unit policy.Unit) {
	if unit == policy.UnitNone {
		digits := integer(n.text)
		if n.kind == number && digits != "" {
			w.out.WriteString(digits)
			return
		}
		w.string(n.text)
		return
	}
	digits, want := figure(n, unit)
	if want != "" {
		w.problems = append(w.problems, problem{n.at, fmt.Sprintf("%s: no figure, want %s, got %s", path, want, describe(n))})
		digits = "0"
	}
	w.out.WriteString(digits)
}

func (w *writer) string(s string) {
	b, err := json.Marshal(s)
	if err != nil {
		return // cannot be: it is a string
	}
	w.out.Write(b)
}

// unitOf returns the unit of a field; that of a threshold is its measure's.
func unitOf(path string, parent *node) policy.Unit {
	unit := policy.UnitOf(path)
	if m := parent.get("measure"); unit == policy.UnitMeasured && m != nil {
		return policy.Measure(m.text).Unit()
	}
	return unit
}

// faults takes over what the core found wrong.
func (w *writer) faults(err error) {
	if err == nil {
		return
	}
	e, ok := errors.AsType[*policy.FaultsError](err)
	if !ok {
		w.problems = append(w.problems, problem{what: err.Error()})
		return
	}
	for _, f := range e.Faults {
		w.problems = append(w.problems, problem{w.place(f.Field), f.String()})
	}
}

// place returns where a field, or else what it belongs to, is stated.
func (w *writer) place(name string) place {
	for {
		if at, ok := w.places[name]; ok {
			return at
		}
		cut := strings.LastIndexAny(name, ".[")
		if cut < 0 {
			return w.places[""]
		}
		name = name[:cut]
	}
}
