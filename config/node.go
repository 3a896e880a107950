package config

import (
	"bytes"
	"unicode/utf8"
)

// A place is a position in a file, both counted from 1. The zero place is none:
// a value that a preset brought.
type place struct{ line, column int }

// placeAt turns an offset in bytes into a place; columns count characters.
func placeAt(data []byte, offset int) place {
	before := data[:max(0, min(offset, len(data)))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return place{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1}
}

// A kind is what a node holds.
type kind uint8

const (
	null kind = iota
	object
	list
	text
	number
	flag
)

// A node is one value of a file, whatever its format. Numbers keep their digits.
type node struct {
	kind    kind
	text    string // of a text; of a number or flag as it is written
	members []member
	items   []*node
	at      place // of the member's name or of the list's item
}

// A member is one named value of an object, in the order of the file.
type member struct {
	name  string
	value *node
}

// get returns the member called name, or nil. It may be called on nil.
func (n *node) get(name string) *node {
	if n == nil || n.kind != object {
		return nil
	}
	for _, m := range n.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// set adds a member or replaces its value.
func (n *node) set(name string, value *node) {
	for i, m := range n.members {
		if m.name == name {
			n.members[i].value = value
			return
		}
	}
	n.members = append(n.members, member{name, value})
}

// take removes the member called name and returns its value, or nil.
func (n *node) take(name string) *node {
	for i, m := range n.members {
		if m.name == name {
			n.members = append(n.members[:i:i], n.members[i+1:]...)
			return m.value
		}
	}
	return nil
}
