package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// parseLiteral reads the JavaScript literal at the beginning of s as
// encoding/json reads JSON into any. What it knows is what a minified list of
// data consists of: lists, objects with names in quotes or without, texts in
// any quotes, numbers, !0 and !1, null and void 0. Nothing is run.
func parseLiteral(s string) (any, error) {
	l := literal{s: s}
	v, err := l.value()
	if err != nil {
		return nil, fmt.Errorf("literal at byte %d: %w", l.at, err)
	}
	return v, nil
}

type literal struct {
	s  string
	at int
}

func (l *literal) value() (any, error) {
	l.space()
	rest := l.s[l.at:]
	for _, word := range []struct {
		text  string
		value any
	}{{"!0", true}, {"!1", false}, {"true", true}, {"false", false}, {"null", nil}, {"void 0", nil}} {
		if strings.HasPrefix(rest, word.text) {
			l.at += len(word.text)
			return word.value, nil
		}
	}
	switch {
	case rest == "":
		return nil, errors.New("want a value, got the end")
	case rest[0] == '[':
		return l.list()
	case rest[0] == '{':
		return l.object()
	case strings.IndexByte("\"'`", rest[0]) >= 0:
		return l.text()
	}
	n := 0
	for n < len(rest) && strings.IndexByte("+-.0123456789eE", rest[n]) >= 0 {
		n++
	}
	f, err := strconv.ParseFloat(rest[:n], 64)
	l.at += n
	return f, err
}

func (l *literal) list() (any, error) {
	out := []any{}
	err := l.between(']', func() error {
		v, err := l.value()
		out = append(out, v)
		return err
	})
	return out, err
}

func (l *literal) object() (any, error) {
	out := map[string]any{}
	err := l.between('}', func() error {
		name, err := l.name()
		if err != nil {
			return err
		}
		if l.space(); !strings.HasPrefix(l.s[l.at:], ":") {
			return errors.New("want a colon")
		}
		l.at++
		out[name], err = l.value()
		return err
	})
	return out, err
}

// between reads things with commas between them up to and with end.
func (l *literal) between(end byte, one func() error) error {
	l.at++
	for {
		l.space()
		switch {
		case l.at >= len(l.s):
			return errors.New("want an end, got none")
		case l.s[l.at] == end:
			l.at++
			return nil
		case l.s[l.at] == ',':
			l.at++
			continue
		}
		if err := one(); err != nil {
			return err
		}
	}
}

func (l *literal) name() (string, error) {
	if strings.IndexByte("\"'`", l.s[l.at]) >= 0 {
		return l.text()
	}
	n := strings.IndexAny(l.s[l.at:], ": \n\t")
	if n <= 0 {
		return "", errors.New("want a name")
	}
	l.at += n
	return l.s[l.at-n : l.at], nil
}

// text reads a text. Of its escapes only the quote and the backslash matter here.
func (l *literal) text() (string, error) {
	quote := l.s[l.at]
	var b strings.Builder
	for l.at++; l.at < len(l.s); l.at++ {
		switch c := l.s[l.at]; {
		case c == quote:
			l.at++
			return b.String(), nil
		case c == '\\' && l.at+1 < len(l.s):
			l.at++
			b.WriteByte(l.s[l.at])
		default:
			b.WriteByte(c)
		}
	}
	return "", errors.New("want the end of a text, got none")
}

// space passes blanks and comments.
func (l *literal) space() {
	for l.at < len(l.s) {
		rest := l.s[l.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			l.at++
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest, "*/")
			if end < 0 {
				return
			}
			l.at += end + 2
		default:
			return
		}
	}
}
