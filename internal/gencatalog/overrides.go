package main

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

//go:embed overrides.csv
var overrides string

// A decision is what overrides.csv says about the prices of one model.
type decision struct {
	tiers  []catalog.Tier // none: unknown
	source string
}

// decisions reads the table: id, above, input, output, read, write, long write,
// reason. A model without a known input price is one of which nothing is known.
func decisions(table string) (map[string]decision, error) {
	out := map[string]decision{}
	for i, line := range strings.Split(table, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, ",")
		if len(f) != 8 {
			return nil, fmt.Errorf("gencatalog: overrides.csv line %d: want 8 fields, got %d", i+1, len(f))
		}
		for j := range f {
			f[j] = strings.TrimSpace(f[j])
		}
		t, err := tierOf(f)
		if err != nil {
			return nil, fmt.Errorf("gencatalog: overrides.csv line %d: %w", i+1, err)
		}
		d := out[f[0]]
		d.source = f[7]
		if t.Input >= 0 || t.Above > 0 {
			d.tiers = append(d.tiers, t)
		}
		out[f[0]] = d
	}
	return out, nil
}

func tierOf(f []string) (catalog.Tier, error) {
	above, err := strconv.Atoi(f[1])
	if err != nil {
		return catalog.Tier{}, err
	}
	t := catalog.Tier{Above: above}
	for i, to := range []*catalog.Price{&t.Input, &t.Output, &t.CacheRead, &t.CacheWrite5m, &t.CacheWrite1h} {
		p, ok := catalog.ParsePrice(f[2+i])
		if !ok && f[2+i] != "?" {
			return t, fmt.Errorf("want dollars for a million tokens or ?, got %q", f[2+i])
		}
		*to = p
	}
	return t, nil
}
