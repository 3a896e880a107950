package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	sources := flag.String("sources", os.Getenv("PLIMSOLL_CATALOG_SOURCES"), "folder with the pinned sources (default $PLIMSOLL_CATALOG_SOURCES)")
	out := flag.String("out", "core/catalog", "folder of the tables")
	flag.Parse()
	if err := run(*sources, *out, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run writes the tables, and to log what the sources disagree about.
func run(sources, out string, log io.Writer) error {
	tables, differ, err := generate(sources, out)
	if err != nil {
		return err
	}
	for _, d := range differ {
		if _, err := fmt.Fprintln(log, d); err != nil {
			return fmt.Errorf("gencatalog: %w", err)
		}
	}
	for name, text := range tables {
		if err := os.WriteFile(filepath.Join(out, name), []byte(text), 0o644); err != nil { //nolint:gosec // tables are public
			return fmt.Errorf("gencatalog: %w", err)
		}
	}
	return nil
}

// generate returns the tables by file name. tablesDir has those kept by hand.
func generate(sources, tablesDir string) (tables map[string]string, disagreements []string, err error) {
	var records []record
	for _, p := range pins() {
		data, err := pinned(sources, p)
		if err != nil {
			return nil, nil, err
		}
		some, err := p.read(data)
		if err != nil {
			return nil, nil, err
		}
		records = append(records, some...)
	}
	hand, err := decisions(overrides)
	if err != nil {
		return nil, nil, err
	}
	kept, err := rows(tablesDir, "models.csv")
	if err != nil {
		return nil, nil, err
	}
	prefixes, err := rows(tablesDir, "prefixes.csv")
	if err != nil {
		return nil, nil, err
	}
	models, disagreements := merge(records, hand, firsts(kept))
	for id := range hand {
		if !contains(models, id) {
			return nil, nil, fmt.Errorf("gencatalog: overrides.csv: %s, want a model that a source has, got none", id)
		}
	}
	return map[string]string{"listed.csv": listed(models, prefixes), "prices.csv": priced(models)}, disagreements, nil
}

// rows returns the fields of a table that is kept by hand.
func rows(dir, name string) ([][]string, error) {
	data, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // the folder is the user's
	if err != nil {
		return nil, fmt.Errorf("gencatalog: %w", err)
	}
	var out [][]string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			out = append(out, strings.Split(strings.ReplaceAll(line, " ", ""), ","))
		}
	}
	return out, nil
}

// firsts returns the first field of each row.
func firsts(rows [][]string) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r[0])
	}
	return out
}

func contains(models []model, id string) bool {
	for _, m := range models {
		if m.id == id {
			return true
		}
	}
	return false
}

// pinned reads a source and holds it against its checksum.
func pinned(dir string, p pin) ([]byte, error) {
	if dir == "" {
		return nil, errors.New("gencatalog: -sources, want a folder, got none")
	}
	data, err := os.ReadFile(filepath.Join(dir, p.file)) //nolint:gosec // the folder is the user's
	if err != nil {
		return nil, fmt.Errorf("gencatalog: %s: %w; get it with: %s", p.name, err, p.get)
	}
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); got != p.sha256 {
		return nil, fmt.Errorf("gencatalog: %s: checksum of %s, want %s, got %s", p.name, p.file, p.sha256, got)
	}
	return data, nil
}
