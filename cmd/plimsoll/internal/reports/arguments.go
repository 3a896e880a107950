package reports

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
)

// mainArguments are the names of the arguments that say what a call is about, the most telling
// first.
var mainArguments = []string{"command", "cmd", "file_path", "filePath", "absolute_path", "path", "filename", "pattern", "query", "url", "prompt"}

// pathArguments are those of them whose end says more than their beginning.
var pathArguments = []string{"file_path", "filePath", "absolute_path", "path", "filename"}

// argumentsText shows the arguments of a call in so many columns: what the call is about without
// its name, a path by its end, and the others behind it if there is room. Arguments that are none
// of an object, or name nothing that is known, are shown as they are.
func argumentsText(arguments string, columns int) string {
	if !strings.HasPrefix(arguments, "{") {
		return console.Clip(arguments, columns)
	}
	name, main, others := mainArgument(arguments)
	if name == "" {
		return console.Clip(arguments, columns)
	}
	main = console.Safe(main)
	if text := strings.Join(append([]string{main}, others...), "  "); lipgloss.Width(text) <= columns {
		return text
	}
	if slices.Contains(pathArguments, name) {
		return console.Shorten(main, columns)
	}
	return console.Clip(main, columns)
}

// mainArgument returns the argument that says what a call is about, and the others as name=value.
// The object may be cut off, as in a preview.
func mainArgument(arguments string) (name, value string, others []string) {
	if begun, cut := strings.CutSuffix(arguments, "…"); cut {
		arguments = begun + `…"}`
	}
	object := gjson.Parse(arguments)
	for _, name = range mainArguments {
		if value = textIn(object.Get(name)); value != "" {
			break
		}
		name = ""
	}
	object.ForEach(func(key, v gjson.Result) bool {
		if key.String() != name {
			others = append(others, console.Safe(key.String()+"="+v.Raw))
		}
		return true
	})
	return name, value, others
}

// textIn returns a text, or the texts of a list as a command line.
func textIn(v gjson.Result) string {
	if !v.IsArray() {
		return v.String()
	}
	var words []string
	for _, one := range v.Array() {
		words = append(words, one.String())
	}
	return strings.Join(words, " ")
}
