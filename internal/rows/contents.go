package rows

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
)

// Contents writes figures with their names, the largest first; empty if there are none.
func Contents(by map[string]int) string {
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(by[b]-by[a], strings.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %s", strings.ReplaceAll(name, "_", " "), edit.Thousands(by[name]))
	}
	return strings.Join(names, ", ")
}

// contents is that as a cell.
func contents(by map[string]int) Cell {
	if len(by) == 0 {
		return Cell{Kind: Missing}
	}
	return text(Contents(by))
}
