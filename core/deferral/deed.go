package deferral

import "strings"

// A deed is what a verb does to what there is, a bit each: a verb of a query may do one of several.
type deed uint8

const (
	reads deed = 1 << iota
	creates
	updates
	deletes
	starts
	stops
)

// deeds are the verbs, as stems, by which names of tools say what they do.
var deeds = deedsOf(map[deed]string{
	reads:   "get list read retrieve search find view show query download fetch export",
	creates: "create add new post insert append generate write",
	updates: "update edit set change rename move patch replace",
	deletes: "delete remove clear erase",
	starts:  "start run trigger play retry execute",
	stops:   "stop close cancel end",
})

func deedsOf(verbs map[deed]string) map[string]deed {
	out := map[string]deed{}
	for d, list := range verbs {
		for _, w := range strings.Fields(list) {
			out[stem(w)] = d
		}
	}
	return out
}

// deedOf returns what the first verb among the stems of a name does; 0: none is one.
func deedOf(stems []string) deed {
	for _, s := range stems {
		if d := deeds[s]; d != 0 {
			return d
		}
	}
	return 0
}

// wantedOf returns what a query wants done, by what its words may mean: a question reads, else its
// first verb says it. 0: it does not say, or asks to be shown something, which tools of all kinds
// do.
func wantedOf(meant [][]string, question bool) deed {
	if question {
		return reads
	}
	for _, stems := range meant {
		var wanted deed
		for _, s := range stems {
			wanted |= deeds[s]
		}
		switch {
		case wanted&reads != 0:
			return 0
		case wanted != 0:
			return wanted
		}
	}
	return 0
}
