package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

// modelsDevMakers are the providers that are makers. Of llama only the windows
// are used: what it costs there is 0, and its makers sell it nowhere else.
func modelsDevMakers() []string {
	return []string{"anthropic", "openai", "google", "xai", "deepseek", "moonshotai", "zai", "alibaba", "mistral", "minimax", "cohere", "llama"}
}

type modelsDevModel struct {
	Base      string         `toml:"base_model"`
	Reasoning bool           `toml:"reasoning"`
	Cost      *modelsDevCost `toml:"cost"`
	Limit     struct {
		Context int `toml:"context"`
		Input   int `toml:"input"`
		Output  int `toml:"output"`
	} `toml:"limit"`
	Modalities struct {
		Input []string `toml:"input"`
	} `toml:"modalities"`
}

type modelsDevCost struct {
	Input      float64  `toml:"input"`
	Output     float64  `toml:"output"`
	CacheRead  *float64 `toml:"cache_read"`
	CacheWrite *float64 `toml:"cache_write"`
	Tier       struct {
		Size int `toml:"size"`
	} `toml:"tier"`
	Tiers []modelsDevCost `toml:"tiers"`
}

func readModelsDev(data []byte) ([]record, error) {
	files, err := modelsDevFiles(data)
	if err != nil {
		return nil, fmt.Errorf("gencatalog: models.dev: %w", err)
	}
	var out []record
	for _, name := range slices.Sorted(maps.Keys(files)) {
		maker, ok := modelsDevMaker(name)
		if !ok {
			continue
		}
		var m modelsDevModel
		if err := modelsDevParse(files, name, &m, 0); err != nil {
			return nil, fmt.Errorf("gencatalog: models.dev: %s: %w", name, err)
		}
		r := record{
			source: "models.dev", maker: maker, raw: strings.TrimSuffix(path.Base(name), ".toml"), window: m.Limit.Context, input: m.Limit.Input,
			output:    m.Limit.Output,
			reasoning: m.Reasoning, vision: slices.Contains(m.Modalities.Input, "image"),
		}
		if c := m.Cost; c != nil && c.Input > 0 && c.Output > 0 {
			r.priced, r.tiers = true, []catalog.Tier{c.at(0)}
			for _, t := range c.Tiers {
				r.tiers = append(r.tiers, t.at(t.Tier.Size))
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// modelsDevParse reads a file over what the model that it is based on says.
func modelsDevParse(files map[string][]byte, name string, m *modelsDevModel, depth int) error {
	text, ok := files[name]
	if !ok || depth > 4 {
		return errors.New("want a file of models.dev, got a name without one")
	}
	var own modelsDevModel
	if err := toml.Unmarshal(text, &own); err != nil {
		return err
	}
	if own.Base != "" {
		if err := modelsDevParse(files, "models/"+own.Base+".toml", m, depth+1); err != nil {
			return fmt.Errorf("%s: %w", own.Base, err)
		}
	}
	return toml.Unmarshal(text, m)
}

func (c modelsDevCost) at(above int) catalog.Tier {
	p := catalog.UnknownPrices()
	p.Input, p.Output = price(c.Input), price(c.Output)
	if c.CacheRead != nil && *c.CacheRead > 0 { // 0 stands for what is not known, or for nothing extra
		p.CacheRead = price(*c.CacheRead)
	}
	if c.CacheWrite != nil && *c.CacheWrite >= c.Input {
		p.CacheWrite5m = price(*c.CacheWrite)
	}
	return catalog.Tier{Above: above, Prices: p}
}

// modelsDevMaker returns whose model a file is about.
func modelsDevMaker(name string) (string, bool) {
	for _, m := range modelsDevMakers() {
		if path.Dir(name) == "providers/"+m+"/models" {
			return m, true
		}
	}
	return "", false
}

// modelsDevFiles returns what is read of the archive.
func modelsDevFiles(data []byte) (map[string][]byte, error) {
	out := map[string][]byte{}
	for t := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		_, ok := modelsDevMaker(h.Name)
		if !strings.HasSuffix(h.Name, ".toml") || !ok && !strings.HasPrefix(h.Name, "models/") {
			continue
		}
		if out[h.Name], err = io.ReadAll(t); err != nil {
			return nil, err
		}
	}
}
