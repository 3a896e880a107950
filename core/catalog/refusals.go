package catalog

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

//go:embed refusals.csv
var refusalsTable string

// Refused is what a provider answers with a 400 though its format has a place for it. The
// zero Refused refuses nothing.
type Refused struct {
	Settings     []string // settings that the model does not take: temperature, top_p, stop, …
	UnlessNone   []string // those that it takes only where the request says that it is not to think
	WithEffort   []string // those that it takes unless the request says how hard it is to think
	Either       []string // settings of which it takes one only; the first is the one to keep
	BlankStop    bool     // a stop sequence of white space
	Prefill      bool     // a conversation that ends with the model's own words
	PrefillSpace bool     // such words with white space at their end
	ForcedTool   bool     // the demand that a tool is called
	SchemaRoot   []string // members that may not stand at the root of a tool's schema, which has to be an object
	Argument     NameRule // what the names of a tool's arguments may be; the zero rule says nothing
	Images       []string // media types of images that it takes; empty: any
	ImageStated  bool     // an image has to be of the type that is stated
}

// Refuses reports whether the model refuses a setting in a request that states this effort
// of thinking; empty if it states none.
func (r Refused) Refuses(setting, effort string) bool {
	return slices.Contains(r.Settings, setting) ||
		effort != "none" && slices.Contains(r.UnlessNone, setting) ||
		effort != "none" && effort != "" && slices.Contains(r.WithEffort, setting)
}

// Names returns the settings that the model does not always take. The slice is the caller's.
func (r Refused) Names() []string { return slices.Concat(r.Settings, r.UnlessNone, r.WithEffort) }

// Refusals are the table of what providers refuse. It is immutable and safe for
// concurrent use; the zero Refusals know nothing.
type Refusals struct{ rows []refusal }

// A refusal is one line of the table.
type refusal struct {
	model bool // else a format
	name  string
	what  string
	words []string
	rule  NameRule
}

// LoadRefusals reads the embedded table. An error means that the table itself is faulty,
// which the tests of this package exclude.
func LoadRefusals() (Refusals, error) { return parseRefusals(refusalsTable) }

func parseRefusals(table string) (Refusals, error) {
	var all Refusals
	for _, r := range rows("refusals.csv", table) {
		f := refusal{model: r.text(0) == "model", name: r.text(1), what: r.text(2), words: r.list(3)}
		if !f.model && r.text(0) != "format" {
			r.fail("first field", "model or format", strconv.Quote(r.text(0)))
		}
		switch f.what {
		case "settings", "unless-none", "with-effort", "either", "schema-root", "image", "also":
		case "argument":
			if len(f.words) != 2 {
				r.fail("argument", "the characters and the length of a name", r.text(3))
				break
			}
			f.rule = NameRule{Extra: f.words[0], Max: r.integer(3, f.words[1])}
		default:
			r.fail("third field", "settings, unless-none, with-effort, either, schema-root, argument, image or also", strconv.Quote(f.what))
		}
		if err := r.done(4); err != nil {
			return Refusals{}, err
		}
		all.rows = append(all.rows, f)
	}
	return all, nil
}

// Of returns what is refused of a request in the format d to a model, of which the ID and
// the capabilities count.
func (all Refusals) Of(d llm.Dialect, m Model) Refused {
	out := Refused{Prefill: m.Capabilities.NoPrefill, ForcedTool: m.Capabilities.NoForcedTool}
	model := all.nearest(strings.ToLower(m.ID))
	for _, f := range all.rows {
		if f.model && f.name == model || !f.model && f.name == string(d) {
			out.add(f)
		}
	}
	return out
}

// nearest returns the longest name of a model in the table that id is or begins with.
func (all Refusals) nearest(id string) string {
	longest := ""
	for _, f := range all.rows {
		rest, ok := strings.CutPrefix(id, f.name)
		if f.model && ok && (rest == "" || rest[0] == '-') && len(f.name) > len(longest) {
			longest = f.name
		}
	}
	return longest
}

func (r *Refused) add(f refusal) {
	switch f.what {
	case "settings":
		r.Settings = f.words
	case "unless-none":
		r.UnlessNone = f.words
	case "with-effort":
		r.WithEffort = f.words
	case "either":
		r.Either = f.words
	case "schema-root":
		r.SchemaRoot = f.words
	case "argument":
		r.Argument = f.rule
	case "also":
		r.BlankStop = slices.Contains(f.words, "blank-stop")
		r.Prefill = r.Prefill || slices.Contains(f.words, "prefill")
		r.PrefillSpace = slices.Contains(f.words, "prefill-space")
	case "image":
		stated := slices.Index(f.words, "as-stated")
		r.Images, r.ImageStated = f.words, stated >= 0
		if stated >= 0 {
			r.Images = slices.Delete(slices.Clone(f.words), stated, stated+1)
		}
	}
}
