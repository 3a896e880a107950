package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/prompt"
)

// Default returns the policy that a file with no fields would describe. It is
// the only place that holds defaults; a policy's name has none.
func Default() Policy {
	return Policy{
		Version:         1,
		Estimator:       "count",
		ToolsPermille:   1000,
		MinimumGain:     Gain{Tokens: 1},
		MinimumSummary:  Least{Tokens: 20, Permille: 5, Most: 200},
		Prompt:          Front{Changed: ChangedRewrite, Marks: prompt.MarksMoving},
		Order:           OrderArrival,
		Backstop:        true,
		SummaryPrompt:   summaryPrompt,
		RetainPrompt:    retainPrompt,
		SummarySlot:     SlotNote,
		OnFloor:         FloorError,
		OnUnknownWindow: UnknownWindow{Action: WindowDefault, Value: 131072, Warn: true}, // R000-8
		OnSummaryError:  SummaryFallback,
	}
}

// What is asked for where a policy does not say it.
const (
	summaryPrompt = `Summarise what code cannot see. Paths, commands, exit codes and the user's words are kept elsewhere; name them only where a sentence needs them, and spell names, numbers and paths exactly as they stand above.
1. goal: what the user wants, with every limit that was set
2. state: what works now, and what is half done
3. reasons: decisions with their grounds, and approaches that failed with the cause
4. findings: facts about the code or the world that were costly to learn
5. next: the very next step, then what remains
State nothing that the messages do not say. Mark what is uncertain.`

	retainPrompt = `Copy, letter by letter, what must stay exact: references to stored outputs, file paths, identifiers, commands that matter, open TODOs and decisions. One per line, no prose.`
)

// Parse reads a policy from its JSON form. Fields of the policy that are absent
// have the values of Default; absent members of an object that is there are 0,
// false or empty. Unknown and repeated fields, numbers that are no integers, null and
// values of another type are faults, all of them reported in one *FaultsError.
// An error of the JSON itself names its line and column instead. Parse does not
// say whether the policy makes sense; Validate does.
func Parse(data []byte) (Policy, error) {
	if err := syntax(data); err != nil {
		return Policy{}, err
	}
	p := Default()
	var d decoder
	d.object("", data, policyFields(&p))
	if err := faultsError("parse", d.faults); err != nil {
		return Policy{}, err
	}
	return p, nil
}

// JSON returns p in its canonical form: one line, all fields of p in the order of
// the type, template names in ascending order. Parse of it gives p again, where
// empty lists and no lists are the same.
func (p Policy) JSON() []byte {
	p.Rules = listed(p.Rules)
	p.Pins = listed(p.Pins)
	p.Tools = listed(p.Tools)
	p.Window.Subtract = listed(p.Window.Subtract)
	p.SummaryDirectives = listed(p.SummaryDirectives)
	p.RetainDirectives = listed(p.RetainDirectives)
	if p.Templates == nil {
		p.Templates = map[string]string{}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		return nil // cannot be: the type holds only strings, integers and booleans
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// listed returns s, or an empty list for nil, so that both have one form.
func listed[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// syntax reports the first place where data is not JSON in UTF-8.
func syntax(data []byte) error {
	if !utf8.Valid(data) {
		return fmt.Errorf("policy: parse: text, want UTF-8, got other bytes at %s", place(data, invalidAt(data)))
	}
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	var se *json.SyntaxError
	if errors.As(err, &se) {
		return fmt.Errorf("policy: parse: JSON at %s: %w", place(data, int(se.Offset)-1), err)
	}
	if err != nil {
		return fmt.Errorf("policy: parse: JSON: %w", err)
	}
	return nil
}

func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(data)
}

// place writes an offset as line and column, both counted from 1.
func place(data []byte, offset int) string {
	before := data[:max(0, min(offset, len(data)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}

// A decoder reads values into fields and collects what is wrong with them.
type decoder struct{ faults []Fault }

func (d *decoder) fault(field, what, want string, raw json.RawMessage) {
	d.faults = append(d.faults, Fault{Field: field, What: what, Want: want, Got: short(raw)})
}

// short returns raw for a message, cut to 60 bytes.
func short(raw json.RawMessage) string {
	const most = 60
	s := strings.Join(strings.Fields(string(raw)), " ")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// object reads the members of raw into fields. at is its own place.
func (d *decoder) object(at string, raw json.RawMessage, fields []field) {
	if at != "" {
		at += "."
	}
	d.members(strings.TrimSuffix(at, "."), raw, func(name string, value json.RawMessage) {
		for _, f := range fields {
			if f.name == name {
				f.read(d, at+name, value)
				return
			}
		}
		known := names(fields)
		d.faults = append(d.faults, Fault{
			Field: at + name, What: "unknown field", Want: oneOf(known), Got: strconv.Quote(name), Near: Nearest(name, known),
		})
	})
}

// members calls each for every member of raw, which must be an object with
// different names.
func (d *decoder) members(at string, raw json.RawMessage, each func(string, json.RawMessage)) {
	if kind(raw) != '{' {
		d.fault(at, "wrong type", "an object", raw)
		return
	}
	seen := map[string]bool{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	_, err := dec.Token()
	for err == nil && dec.More() {
		var t json.Token
		if t, err = dec.Token(); err != nil {
			break
		}
		name, _ := t.(string) // a key is a string, as the syntax was checked
		var value json.RawMessage
		if err = dec.Decode(&value); err != nil {
			break
		}
		if seen[name] {
			d.fault(strings.TrimPrefix(at+"."+name, "."), "repeated field", "it once", value)
			continue
		}
		seen[name] = true
		each(name, value)
	}
	if err != nil {
		d.fault(at, err.Error(), "an object", raw)
	}
}

// elements calls each for every element of raw, which must be a list.
func (d *decoder) elements(at string, raw json.RawMessage, each func(string, json.RawMessage)) {
	if kind(raw) != '[' {
		d.fault(at, "wrong type", "a list", raw)
		return
	}
	var values []json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		d.fault(at, err.Error(), "a list", raw)
		return
	}
	for i, v := range values {
		each(at+"["+strconv.Itoa(i)+"]", v)
	}
}

// text reads a string.
func (d *decoder) text(at string, raw json.RawMessage) string {
	var s string
	if kind(raw) != '"' || json.Unmarshal(raw, &s) != nil {
		d.fault(at, "wrong type", "a string", raw)
	}
	return s
}

// integer reads a number without fraction and exponent.
func (d *decoder) integer(at string, raw json.RawMessage) int {
	n, err := strconv.Atoi(string(bytes.TrimSpace(raw)))
	if err != nil {
		d.fault(at, "wrong type", "an integer", raw)
	}
	return n
}

// flag reads true or false.
func (d *decoder) flag(at string, raw json.RawMessage) bool {
	switch s := string(bytes.TrimSpace(raw)); s {
	case "true", "false":
		return s == "true"
	}
	d.fault(at, "wrong type", "true or false", raw)
	return false
}

// kind returns the first byte of a value, which tells its type.
func kind(raw json.RawMessage) byte {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return 0
	}
	return raw[0]
}
