package summary

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// arguments are those of a tool call: fields of a JSON object by their squeezed
// names, or free text.
type arguments struct {
	fields fields
	free   string
}

// fields is a JSON object, its names squeezed, its values as they came.
type fields map[string]json.RawMessage

func argumentsOf(c llm.ToolCall) arguments {
	f := fieldsOf(c.Args)
	if f == nil {
		return arguments{free: c.Args}
	}
	return arguments{fields: f}
}

// fieldsOf returns nil if a text is not a JSON object. Where two names squeeze to
// one, the first in byte order counts.
func fieldsOf(text string) fields {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) != nil || object == nil {
		return nil
	}
	f := make(fields, len(object))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if _, taken := f[squeeze(name)]; !taken {
			f[squeeze(name)] = object[name]
		}
	}
	return f
}

func (f fields) find(keys []string) (json.RawMessage, bool) {
	for _, k := range keys {
		if raw, ok := f[k]; ok {
			return raw, true
		}
	}
	return nil, false
}

func (a arguments) has(keys []string) bool {
	_, ok := a.fields.find(keys)
	return ok
}

// text returns the first string among the keys, or "".
func (a arguments) text(keys []string) string { return a.fields.text(keys) }

func (f fields) text(keys []string) string {
	for _, k := range keys {
		var s string
		if raw, ok := f[k]; ok && json.Unmarshal(raw, &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// number returns the first integer among the keys, also one inside a string.
func (f fields) number(keys []string) (int, bool) {
	for _, k := range keys {
		if raw, ok := f[k]; ok {
			if n, err := strconv.Atoi(strings.Trim(string(raw), `"`)); err == nil {
				return n, true
			}
		}
	}
	return 0, false
}

func (a arguments) path(keys []string) string { return oneLine(a.text(keys), maxPath) }

// texts returns the first list of strings among the keys.
func (a arguments) texts(keys []string) []string {
	raw, ok := a.fields.find(keys)
	if !ok {
		return nil
	}
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// command returns a command given as one string or as a list of words. A shell
// that is only there to run a string, as in ["bash", "-lc", "make"], is left out.
func (a arguments) command(keys []string) string {
	if s := a.text(keys); s != "" {
		return s
	}
	words := a.texts(keys)
	if len(words) == 3 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(strings.ToLower(words[1]), "c") ||
		len(words) == 3 && strings.EqualFold(words[1], "-command") {
		return words[2]
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if w == "" || strings.ContainsAny(w, " \t\"$`|&;<>()*?'") {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// patch returns the text of a patch: free text, or one of the usual fields.
func (a arguments) patch() string {
	if a.free != "" {
		return a.free
	}
	if s := a.text(patchKeys); s != "" {
		return s
	}
	return strings.Join(a.texts(commandKeys), "\n")
}

// A step is one entry of a plan or todo list, as planning tools write it.
type step struct {
	Content string `json:"content"`
	Step    string `json:"step"`
	Text    string `json:"text"`
	Title   string `json:"title"`
	Status  string `json:"status"`
}

func (s step) text() string {
	for _, text := range []string{s.Content, s.Step, s.Text, s.Title} {
		if text != "" {
			return text
		}
	}
	return ""
}

func (s step) finished() bool {
	switch squeeze(s.Status) {
	case "completed", "complete", "done", "cancelled", "canceled":
		return true
	}
	return false
}

// steps returns the plan in the arguments, nil if there is none.
func (a arguments) steps(keys []string) []step {
	raw, ok := a.fields.find(keys)
	if !ok {
		return nil
	}
	steps := []step{}
	if json.Unmarshal(raw, &steps) != nil {
		return nil
	}
	return steps
}
