package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

const tablesDir = "../../core/catalog"

// The committed tables are what the pinned sources and overrides.csv make.
func TestTablesAreGenerated(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_CATALOG_SOURCES")
	if dir == "" {
		fmt.Println("skipped: PLIMSOLL_CATALOG_SOURCES names no folder with the sources")
		t.Skip("PLIMSOLL_CATALOG_SOURCES is not set")
	}
	made, differ, err := generate(dir, tablesDir)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range made {
		committed, err := os.ReadFile(filepath.Join(tablesDir, name)) //nolint:gosec // a file of this repository
		if err != nil || string(committed) != text {
			t.Errorf("%s is not what the sources make (%v); go run ./internal/gencatalog writes it", name, err)
		}
	}
	if len(differ) > 0 {
		t.Errorf("the sources disagree; decide in overrides.csv:\n%s", strings.Join(differ, "\n"))
	}
}

func TestPinned(t *testing.T) {
	dir := t.TempDir()
	p := pins()[0]
	if _, err := pinned("", p); err == nil || !strings.Contains(err.Error(), "-sources") {
		t.Errorf("no folder: %v", err)
	}
	if _, err := pinned(dir, p); err == nil || !strings.Contains(err.Error(), p.get) {
		t.Errorf("no file: %v, want it to say how to get one", err)
	}
	if err := os.WriteFile(filepath.Join(dir, p.file), []byte("another version"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := pinned(dir, p); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("another file: %v, want it refused", err)
	}
}

// The cached figures of catwalk mean different things with different makers.
func TestCatwalkCaching(t *testing.T) {
	tests := []struct{ file, model, read, write string }{
		{"anthropic", `"cost_per_1m_in": 5, "cost_per_1m_out": 25, "cost_per_1m_in_cached": 6.25, "cost_per_1m_out_cached": 0.5`, "0.5", "6.25"},
		{"openai", `"cost_per_1m_in": 2, "cost_per_1m_out": 10, "cost_per_1m_in_cached": 2.5, "cost_per_1m_out_cached": 0.1`, "0.1", "2.5"},
		{"openai", `"cost_per_1m_in": 1.25, "cost_per_1m_out": 10, "cost_per_1m_in_cached": 0.125, "cost_per_1m_out_cached": 0.125`, "0.125", "1.25"},
		{"openai", `"cost_per_1m_in": 5, "cost_per_1m_out": 30, "cost_per_1m_in_cached": 0, "cost_per_1m_out_cached": 0.5`, "0.5", "5"},
		{"deepseek", `"cost_per_1m_in": 0.14, "cost_per_1m_out": 0.28, "cost_per_1m_in_cached": 0.0028, "cost_per_1m_out_cached": 0`, "0.0028", "0.14"},
		{"zai", `"cost_per_1m_in": 1.4, "cost_per_1m_out": 4.4, "cost_per_1m_in_cached": 0, "cost_per_1m_out_cached": 0.26`, "0.26", "1.4"},
		{"zai", `"cost_per_1m_in": 0.6, "cost_per_1m_out": 2.2, "cost_per_1m_in_cached": 0.11`, "0.11", "0.6"},
		{"gemini", `"cost_per_1m_in": 0.3, "cost_per_1m_out": 2.5, "cost_per_1m_in_cached": 0.03, "cost_per_1m_out_cached": 2.5`, "0.03", "0.3"},
		{"gemini", `"cost_per_1m_in": 0.3, "cost_per_1m_out": 2.5, "cost_per_1m_in_cached": null, "cost_per_1m_out_cached": null`, "?", "0.3"},
	}
	for _, tt := range tests {
		maker := catwalkMakers()[tt.file]
		id := beginnings(maker.maker)[0] + "x"
		records, err := catwalkRecords([]byte(`{"models": [{"id": "`+id+`", "context_window": 1000, `+tt.model+`}]}`), maker)
		if err != nil {
			t.Fatal(err)
		}
		models, _ := merge(records, nil, nil)
		if len(models) != 1 || len(models[0].tiers) != 1 {
			t.Fatalf("%s: %+v", tt.file, models)
		}
		if p := models[0].tiers[0]; p.CacheRead.String() != tt.read || p.CacheWrite5m.String() != tt.write {
			t.Errorf("%s %s: read %s, write %s, want %s, %s", tt.file, tt.model, p.CacheRead, p.CacheWrite5m, tt.read, tt.write)
		}
	}
}

// A literal is read without being run.
func TestParseLiteral(t *testing.T) {
	v, err := parseLiteral("[{ a: 1e5, \"b\": [.5, !0, !1, null, void 0], c: `x\n\\`y`, /* no */ d: { e: 'it\\'s' }, f: -2 }]; alert(1)")
	if err != nil {
		t.Fatal(err)
	}
	o := items(v)[0]
	if member(o, "a") != 1e5 || text(o, "c") != "x\n`y" || text(member(o, "d"), "e") != "it's" || member(o, "f") != -2.0 {
		t.Errorf("%v", o)
	}
	if b := items(member(o, "b")); !slices.Equal(b, []any{0.5, true, false, nil, nil}) {
		t.Errorf("%v", b)
	}
	for _, s := range []string{"", "[", "{a}", "{a:", "[f(1)]", "['x", "{:1}", "/* x", "[1 /*", "{\"a"} {
		if v, err := parseLiteral(s); err == nil {
			t.Errorf("parseLiteral(%q) = %v, want an error", s, v)
		}
	}
}

// Prices by date: the latest that has begun counts; by hour: none does.
func TestGenaiPrices(t *testing.T) {
	const list = `[{id: "gpt-a", context_window: 1000, prices: [
		{prices: {input_mtok: 10, output_mtok: 40}},
		{constraint: {start_date: "2026-01-01", type: "start_date"}, prices: {input_mtok: {base: 2, tiers: [{start: 500, price: 4}]}, output_mtok: 8, cache_read_mtok: 0.5}},
		{constraint: {start_date: "2999-01-01", type: "start_date"}, prices: {input_mtok: 1, output_mtok: 1}}
	]}, {id: "gpt-b", context_window: 1000, prices: [
		{prices: {input_mtok: 1, output_mtok: 2}},
		{constraint: {start_time: "00:30:00Z", end_time: "16:30:00Z", type: "time_of_date"}, prices: {input_mtok: 2, output_mtok: 4}}
	]}]`
	v, err := parseLiteral(list)
	if err != nil {
		t.Fatal(err)
	}
	var records []record
	for _, m := range items(v) {
		records = append(records, genaiRecords("openai", m)...)
	}
	models, _ := merge(records, nil, nil)
	want := []catalog.Tier{
		{Prices: catalog.Prices{Input: 2_000_000, Output: 8_000_000, CacheRead: 500_000, CacheWrite5m: 2_000_000, CacheWrite1h: catalog.UnknownPrice}},
		{Above: 500, Prices: catalog.Prices{Input: 4_000_000, Output: 8_000_000, CacheRead: 500_000, CacheWrite5m: 4_000_000, CacheWrite1h: catalog.UnknownPrice}},
	}
	if len(models) != 2 || !slices.Equal(models[0].tiers, want) {
		t.Errorf("by date: %+v, want %+v", models, want)
	}
	if len(models) != 2 || models[1].tiers != nil {
		t.Errorf("by hour: %+v, want no price", models)
	}
}

// The newest source gives the price; another that says something else is reported,
// and overrides.csv has the last word.
func TestDisagreement(t *testing.T) {
	one := func(source string, in, out catalog.Price) record {
		p := catalog.UnknownPrices()
		p.Input, p.Output = in, out
		return record{source: source, maker: "openai", raw: "gpt-a", window: 1000, priced: true, tiers: []catalog.Tier{{Prices: p}}}
	}
	records := []record{one("catwalk", 2, 8), one("models.dev", 3, 8)}
	models, differ := merge(records, nil, nil)
	if len(models) != 1 || models[0].tiers[0].Input != 2 || models[0].priceSources != "catwalk" || len(differ) != 1 || !strings.Contains(differ[0], "models.dev") {
		t.Errorf("%+v, %v", models, differ)
	}
	hand, err := decisions("# note\ngpt-a, 0, 5, 6, ?, 5, ?, hand: because\n")
	if err != nil {
		t.Fatal(err)
	}
	models, differ = merge(records, hand, nil)
	if models[0].tiers[0].Input != 5_000_000 || models[0].priceSources != "hand: because" || len(differ) != 0 {
		t.Errorf("%+v, %v", models, differ)
	}
	hand, err = decisions("gpt-a, 0, ?, ?, ?, ?, ?, hand: nobody knows\n")
	if err != nil {
		t.Fatal(err)
	}
	if models, _ = merge(records, hand, nil); models[0].tiers != nil {
		t.Errorf("%+v, want no price", models)
	}
	for _, bad := range []string{"a, 0, 1\n", "a, x, 1, 1, 1, 1, 1, r\n", "a, 0, $1, 1, 1, 1, 1, r\n"} {
		if _, err := decisions(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// A dated name is a model of its own only where it differs from the undated one.
func TestCanonical(t *testing.T) {
	tests := []struct{ maker, raw, want string }{
		{"anthropic", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5"},
		{"anthropic", "claude-3.5-haiku-latest", "claude-3-5-haiku"},
		{"openai", "gpt-4-0613", "gpt-4"},
		{"openai", "gpt-4o-2024-11-20", "gpt-4o"},
		{"mistral", "mistral-large-2512", "mistral-large-2512"},
		{"google", "gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"},
		{"google", "gemini-2.0-flash-001", "gemini-2.0-flash"},
		{"minimax", "MiniMax-M2", "minimax-m2"},
	}
	for _, tt := range tests {
		if got := canonical(tt.maker, tt.raw); got != tt.want {
			t.Errorf("canonical(%q) = %q, want %q", tt.raw, got, tt.want)
		}
	}
	for raw, want := range map[string]bool{"gpt-5": true, "gpt-4o-audio-preview": false, "text-embedding-3-large": false, "gpt-image-1": false, "claude-opus-5": false} {
		if got := (record{maker: "openai", raw: raw}).isTextModel(); got != want {
			t.Errorf("%s: %v, want %v", raw, got, want)
		}
	}
}
