package journal

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// The names of the closed sets of package llm, at the index of their value.
// Empty is the zero value, which is left out.
var (
	roleNames    = []string{"", "user", "assistant", "tool", "system"}
	originNames  = []string{"", "human", "model", "tool", "note"}
	toolNames    = []string{"", "skill", "mcp"}
	sectionNames = []string{"", "skills", "summary", "notes", "tools"}
)

// flagNames holds the name of flag 1<<i at index i.
var flagNames = []string{"summary", "rules", "synthetic", "interrupted"}

// writtenUndo is what stands in records for an undo, as an operation and as a kind: it was
// called so when their form was made.
const writtenUndo = "restore"

// written returns the name of an operation or kind as it stands in records.
func written(name string) string {
	if name == string(edit.Undo) {
		return writtenUndo
	}
	return name
}

// read is the inverse of written.
func read(name string) string {
	if name == writtenUndo {
		return string(edit.Undo)
	}
	return name
}

// nameOf returns the name of v.
func nameOf[T ~uint8](v T, what string, names []string) (string, error) {
	if int(v) >= len(names) {
		return "", fmt.Errorf("%s, want at most %d, got %d", what, len(names)-1, v)
	}
	return names[v], nil
}

// valueOf is the inverse of nameOf.
func valueOf[T ~uint8](name, what string, names []string) (T, error) {
	i := slices.Index(names, name)
	if i < 0 {
		return 0, fmt.Errorf("%s, want a known one, got %.40q", what, name)
	}
	return T(i), nil
}

func flagsOf(f llm.Flags) ([]string, error) {
	var names []string
	for i, name := range flagNames {
		if f.Has(1 << i) {
			names = append(names, name)
		}
	}
	if rest := f >> len(flagNames); rest != 0 {
		return nil, fmt.Errorf("flags, want only known ones, got %#x", f)
	}
	return names, nil
}

func readFlags(names []string) (llm.Flags, error) {
	var f llm.Flags
	for _, name := range names {
		i := slices.Index(flagNames, name)
		if i < 0 {
			return 0, fmt.Errorf("flag, want a known one, got %.40q", name)
		}
		f |= 1 << i
	}
	return f, nil
}
