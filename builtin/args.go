package builtin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Args are the arguments of a call. Models write them, so they are read kindly: a number may
// be a text, null is as absent, and what is not known is not looked at. The first
// fault is kept.
type args struct {
	fields map[string]json.RawMessage
	err    error
}

// readArgs reads arguments. No text is as no arguments.
func readArgs(text string) *args {
	a := &args{}
	if strings.TrimSpace(text) == "" {
		return a
	}
	if err := json.Unmarshal([]byte(text), &a.fields); err != nil {
		a.err = fmt.Errorf("arguments: want a JSON object, got %s", quote(text))
	}
	return a
}

// field returns an argument by the first of its names that is there.
func (a *args) field(names ...string) (json.RawMessage, bool) {
	for _, name := range names {
		if v, ok := a.fields[name]; ok && !bytes.Equal(v, []byte("null")) {
			return v, true
		}
	}
	return nil, false
}

// fault keeps what is wrong with an argument.
func (a *args) fault(name, want string, got json.RawMessage) {
	a.keep(fmt.Errorf("%s: want %s, got %s", name, want, quote(string(got))))
}

func (a *args) keep(err error) {
	if a.err == nil {
		a.err = err
	}
}

// need returns a text that has to be there. It has the first of the names; the others are
// taken for it.
func (a *args) need(names ...string) string {
	s := a.text(names...)
	if strings.TrimSpace(s) == "" {
		a.keep(fmt.Errorf("%s: want a text, got none", names[0]))
	}
	return s
}

// text returns a text, or nothing.
func (a *args) text(names ...string) string {
	v, ok := a.field(names...)
	if !ok {
		return ""
	}
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	if v[0] == '{' || v[0] == '[' {
		a.fault(names[0], "a text", v)
		return ""
	}
	return string(v) // a number, or a truth value, that was meant as text
}

// count returns a whole number of least or more; def if it is not there. What is larger than
// a number can be is the largest.
func (a *args) count(name string, least, def int64) int64 {
	v, ok := a.field(name)
	if !ok {
		return def
	}
	n, ok := whole(strings.TrimSpace(a.text(name)))
	if !ok || n < least {
		a.fault(name, fmt.Sprintf("a whole number of %d or more", least), v)
		return def
	}
	return n
}

// whole reads a whole number.
func whole(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return n, true // out of range it is the nearest one
	}
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange), math.IsNaN(f), f != math.Trunc(f):
		return 0, false
	case f >= math.MaxInt64:
		return math.MaxInt64, true
	case f <= math.MinInt64:
		return math.MinInt64, true
	}
	return int64(f), true
}

// flag returns a truth value; false if it is not there.
func (a *args) flag(name string) bool {
	v, ok := a.field(name)
	if !ok {
		return false
	}
	is, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(a.text(name))))
	if err != nil {
		a.fault(name, "true or false", v)
	}
	return is
}
