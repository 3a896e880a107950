package policy

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
)

//go:embed presets/*.json
var presetFiles embed.FS

// presetNames are in the order in which they are shown: nothing, the documents'
// in the order of their numbers, then our own: the default between a cheaper and a dearer one.
var presetNames = []string{"off", "guard", "cache-compact", "layered", "turn-budget", "lean", "balanced", "quality"}

// DefaultPreset is the policy of a program that was told none.
const DefaultPreset = "balanced"

// Presets returns the names of all presets in display order.
func Presets() []string { return slices.Clone(presetNames) }

// Preset returns the preset called name. Each is a file of this package, which
// says in "about" and in its rules what it does, and in "source" which document
// its numbers and texts come from. The error names all presets.
func Preset(name string) (Policy, error) {
	if !slices.Contains(presetNames, name) {
		f := Fault{What: "unknown name", Want: oneOf(presetNames), Got: strconv.Quote(name), Near: Nearest(name, presetNames)}
		return Policy{}, fmt.Errorf("policy: preset: %s", f)
	}
	data, err := presetFiles.ReadFile("presets/" + name + ".json")
	if err != nil {
		return Policy{}, fmt.Errorf("policy: preset %q: %w", name, err)
	}
	p, err := Parse(data)
	if err != nil {
		return Policy{}, fmt.Errorf("policy: preset %q: %w", name, err)
	}
	return p, nil
}
