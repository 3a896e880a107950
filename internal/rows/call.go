package rows

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// mainArguments are the names of the arguments that say what a call is about, the most telling
// first.
var mainArguments = []string{"command", "cmd", "file_path", "filePath", "absolute_path", "path", "filename", "pattern", "query", "url", "prompt"}

// pathArguments are those of them whose end says more than their beginning.
var pathArguments = []string{"file_path", "filePath", "absolute_path", "path", "filename"}

// A Call is what the arguments of a call say.
type Call struct {
	Main   string   // what it is about, without its name; all of it where nothing in it is known
	Path   bool     // Main is a path
	Others []string // name=value
}

// String is all of it on one line.
func (c Call) String() string { return strings.Join(append([]string{c.Main}, c.Others...), "  ") }

// CallOf reads the arguments of a call. The object may be cut off, as in a preview. Arguments that
// are none of an object, or name nothing that is known, are taken as they are.
func CallOf(arguments string) Call {
	if !strings.HasPrefix(arguments, "{") {
		return Call{Main: arguments}
	}
	whole := arguments
	if begun, cut := strings.CutSuffix(whole, "…"); cut {
		whole = begun + `…"}`
	}
	object := gjson.Parse(whole)
	name, out := "", Call{}
	for _, name = range mainArguments {
		if out.Main = textIn(object.Get(name)); out.Main != "" {
			break
		}
	}
	if out.Main == "" {
		return Call{Main: arguments}
	}
	out.Path = slices.Contains(pathArguments, name)
	object.ForEach(func(key, v gjson.Result) bool {
		if key.String() != name {
			out.Others = append(out.Others, key.String()+"="+v.Raw)
		}
		return true
	})
	return out
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
