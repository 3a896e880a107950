package main

import (
	"fmt"
	"strconv"
	"strings"
)

// header names what a table was made of.
func header(what string, about ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n#\n# Made by internal/gencatalog; do not edit. overrides.csv beside it decides what the sources disagree about.\n#\n# Sources\n", what)
	for _, p := range pins() {
		fmt.Fprintf(&b, "#   %s: %s, %s, sha256 %s\n", p.name, p.version, p.licence, p.sha256)
	}
	b.WriteString("#\n")
	for _, line := range about {
		b.WriteString(strings.TrimRight("# "+line, " ") + "\n")
	}
	return b.String()
}

// listed returns the table of models.
func listed(models []model, prefixes [][]string) string {
	var b strings.Builder
	b.WriteString(header("Models that openly licensed lists have, one a line. Where models.csv has one too, its figures count.",
		"Window: models.dev, else catwalk, else genai-prices. Largest output: models.dev, else what catwalk asks for by default,",
		"which can be less; 0 if neither has it. Largest input: models.dev; 0 if the window is the only limit. The estimator and the family are what the name tells (prefixes.csv): not measured.",
		"API name: what the maker's API takes, if that differs.",
		"", "id, window, largest input, largest output, estimator, family, capabilities, API name, source"))
	for _, m := range models {
		estimator, family := counting(m.id, prefixes)
		var words []string
		if m.reasoning {
			words = append(words, "reasoning")
		}
		if m.vision {
			words = append(words, "vision")
		}
		line(&b, m.id, strconv.Itoa(m.window), strconv.Itoa(m.input), strconv.Itoa(m.output), estimator, family, strings.Join(words, " "), m.api, strings.Join(m.sources, " "))
	}
	return b.String()
}

// counting returns how a model's tokens are estimated, as its name tells.
func counting(id string, prefixes [][]string) (estimator, family string) {
	best := []string{"", "unknown", "-"}
	for _, p := range prefixes {
		if len(p[0]) > len(best[0]) && (strings.HasPrefix(id, p[0]) || id+"$" == p[0]) {
			best = p
		}
	}
	family = best[1]
	switch {
	case best[2] != "-":
		return "tiktoken:" + best[2], family
	case strings.HasPrefix(family, "claude"):
		return "claude:" + id, family
	case family == "gemini":
		return "gemini", family
	}
	return "pieces", family
}

// priced returns the table of prices.
func priced(models []model) string {
	var b strings.Builder
	b.WriteString(header("What makers ask for their models at their own APIs, one tier a line.",
		"A price holds for prompts of more than so many tokens, in dollars for a million; ? is unknown. Where a maker asks nothing",
		"extra for writing to its cache, that costs what input costs. Prices of "+asOf+"; a discount that ends later is in them.",
		"", "id, above, input, output, cache read, cache write, cache write with the long lifetime, source"))
	for _, m := range models {
		for _, t := range m.tiers {
			line(&b, m.id, strconv.Itoa(t.Above), t.Input.String(), t.Output.String(), t.CacheRead.String(), t.CacheWrite5m.String(),
				t.CacheWrite1h.String(), m.priceSources)
		}
	}
	return b.String()
}

// line writes fields with commas between them; an empty one is a dash.
func line(b *strings.Builder, fields ...string) {
	for i, f := range fields {
		if f == "" {
			f = "-"
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f)
	}
	b.WriteByte('\n')
}
