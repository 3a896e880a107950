package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

// catwalkList is one of its files: what a provider offers.
type catwalkList struct {
	Models []catwalkModel `json:"models"`
}

type catwalkModel struct {
	ID        string   `json:"id"`
	In        float64  `json:"cost_per_1m_in"`
	Out       float64  `json:"cost_per_1m_out"`
	InCached  *float64 `json:"cost_per_1m_in_cached"`
	OutCached *float64 `json:"cost_per_1m_out_cached"`
	Window    int      `json:"context_window"`
	Output    int      `json:"default_max_tokens"`
	Reasons   bool     `json:"can_reason"`
	Attaches  bool     `json:"supports_attachments"`
}

// catwalkMakers are the files of makers, with the maker's name and what the two
// cached figures mean there. The field's names say nothing about it: at some
// in_cached is what writing costs and out_cached what reading does, at others
// in_cached is the price of reading and out_cached 0 or the price of output.
func catwalkMakers() map[string]catwalkMaker {
	return map[string]catwalkMaker{
		"anthropic":         {"anthropic", writeAndRead},
		"openai":            {"openai", writeAndRead},
		"minimax":           {"minimax", writeAndRead},
		"xai":               {"xai", writeAndRead},
		"alibaba-singapore": {"alibaba", writeAndRead},
		"gemini":            {"google", readOnly},
		"deepseek":          {"deepseek", readOnly},
		"moonshot":          {"moonshotai", readOnly},
		"zai":               {"zai", readOnly},
	}
}

type catwalkMaker struct {
	maker   string
	caching func(m catwalkModel, p *catalog.Prices)
}

// writeAndRead: in_cached is the price of writing, out_cached that of reading.
// Where in_cached is below the input it repeats the price of reading.
func writeAndRead(m catwalkModel, p *catalog.Prices) {
	if m.InCached != nil && *m.InCached >= m.In && *m.InCached > 0 {
		p.CacheWrite5m = price(*m.InCached)
	}
	if m.OutCached != nil && *m.OutCached > 0 {
		p.CacheRead = price(*m.OutCached)
	}
}

// readOnly: there is a price of reading only, in either of the fields.
func readOnly(m catwalkModel, p *catalog.Prices) {
	for _, c := range []*float64{m.InCached, m.OutCached} {
		if c != nil && *c > 0 && *c < m.In {
			p.CacheRead = price(*c)
			return
		}
	}
}

func readCatwalk(data []byte) ([]record, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("gencatalog: catwalk: %w", err)
	}
	var out []record
	for _, f := range z.File {
		dir, name := path.Split(f.Name)
		maker, ok := catwalkMakers()[strings.TrimSuffix(name, ".json")]
		if !ok || !strings.HasSuffix(dir, "/internal/providers/configs/") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("gencatalog: catwalk: %w", err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("gencatalog: catwalk: %s: %w", f.Name, err)
		}
		records, err := catwalkRecords(text, maker)
		if err != nil {
			return nil, fmt.Errorf("gencatalog: catwalk: %s: %w", f.Name, err)
		}
		out = append(out, records...)
	}
	return out, nil
}

func catwalkRecords(text []byte, maker catwalkMaker) ([]record, error) {
	var list catwalkList
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	var out []record
	for _, m := range list.Models {
		r := record{
			source: "catwalk", maker: maker.maker, raw: m.ID, window: m.Window, output: m.Output, reasoning: m.Reasons, vision: m.Attaches,
		}
		if m.In > 0 && m.Out > 0 { // 0 stands for what is not known
			p := catalog.UnknownPrices()
			p.Input, p.Output = price(m.In), price(m.Out)
			maker.caching(m, &p)
			r.priced, r.tiers = true, []catalog.Tier{{Prices: p}}
		}
		out = append(out, r)
	}
	return out, nil
}
