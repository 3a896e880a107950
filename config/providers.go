package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// Settings are what configuration files say about models and their windows. A file is
// plimsoll.yaml or plimsoll.toml, with the fields model, providers, models, defaults,
// toolsAllowed and toolsDenied:
//
//	model: work/gpt-5            # what is asked if nothing else is said
//	providers:
//	  work:                      # a name of one's own, or that of a kind, which is then changed
//	    kind: openai             # one of Known.Kinds; may be left out if it is the name
//	    baseURL: https://gateway.example/v1
//	    keyEnv: WORK_API_KEY     # or keyCommand: [program, argument]; never the key itself
//	    headers: {x-team: blue}
//	    query: {api-version: "2024-10-21"}
//	    contextWindow: 128k      # of its models; and contextWindowBufferTokens, tokenizer
//	    models:                  # or a list of names: [gpt-5, gpt-5-mini]
//	      gpt-5: {contextWindow: 400k, maxOutputTokens: 16384, reasoning: low}
//	      gpt-5-mini: {contextWindowBufferTokens: 4096, tokenizer: "tiktoken:gpt-4", toolsDenied: [bash]}
//	defaults:                    # where nothing nearer says else
//	  contextWindowBufferTokens: 8192
//	  maxOutputTokens: 16384
//	  contextWindow: 64k         # of models that nobody knows
//	  toolResponseMaxBytes: 12288
//	  reasoning: medium
//	toolsDenied: [web_*]         # and toolsAllowed; here or in defaults
//	models:
//	  my-model:                  # a name of one's own, or one of the catalogue, which is then changed
//	    window: 128k             # and maxInput, maxOutput, tokenizer, family, provider, api, cache
//	    prices: {input: 1.25, output: 10, cacheRead: 0.125}    # and cacheWrite, cacheWrite1h; dollars for a million tokens
//	    tiers: [{above: 200k, input: 2.5, output: 15}]         # of longer prompts
//
// A file that stands in the working folder may have come with somebody else's work. So it
// may not say where a key is, run a program, send requests to another machine than
// this one, or name a tokenizer's file that lies elsewhere.
type Settings struct {
	Model     string // provider/model; empty if not stated
	Providers []ProviderSettings
	// Models are to be laid over the catalogue, with catalog.Catalog.With. A price
	// that is not stated is unknown; writing to the cache costs what input does.
	Models []catalog.Model
	// PricesFrom is the file in the working folder that states prices, and Priced the
	// models that it states them of, by their names in the catalogue. Empty: none does.
	PricesFrom string
	Priced     []string
	// Facts are the windows and tokenizers of Models, with where they stand. They go by
	// the names of the catalogue.
	Facts []ModelLimits
	// Agent is what the section agent states: it goes before what the catalogue knows of a model.
	Agent    Limits
	Defaults Limits
	Loop     LoopContext
	Tools    []FileTools // of each file that says something about tools, the working folder's first
}

// ProviderSettings are what a file says about one provider. What is not stated is zero.
type ProviderSettings struct {
	Name, Kind     string
	BaseURL        string
	KeyEnv         string   // name of an environment variable
	KeyCommand     []string // program and arguments
	Headers, Query map[string]string
	Models         []string      // names, in the order of the file
	Limits         Limits        // of all its models
	ModelLimits    []ModelLimits // of single ones; of two entries of one model the first goes before the second
}

// Provider returns the settings of that name.
func (s Settings) Provider(name string) (ProviderSettings, bool) {
	i := slices.IndexFunc(s.Providers, func(p ProviderSettings) bool { return p.Name == name })
	if i < 0 {
		return ProviderSettings{}, false
	}
	return s.Providers[i], true
}

// Known is what the reader of settings is told about providers.
type Known struct {
	Kinds      []string
	Aliases    map[string]string      // other names of kinds, such as those of the source documents
	CarriesKey func(name string) bool // whether a header or query parameter is one for a key
	// Families, Caches and Tokenizer are about models. Empty or nil: every word is taken.
	Families, Caches []string
	Tokenizer        func(id string) error // what is wrong with an estimator's id
}

// A SettingsError holds everything that is wrong with one file of settings.
type SettingsError struct{ FileError }

// Error implements error, with a line for each problem.
func (e *SettingsError) Error() string { return "config: load settings: " + e.lines() }

// Unwrap returns the problems.
func (e *SettingsError) Unwrap() error { return &e.FileError }

// lines returns a line for each problem.
func (e *FileError) lines() string { return strings.TrimPrefix(e.Error(), "config: load policy: ") }

// pricedIn returns the names of the models with prices, as a catalogue has them that
// these are laid over: files may write them in other letters.
func pricedIn(models []catalog.Model) []string {
	var names []string
	for _, m := range models {
		if id := laidID(m.ID); id != "" && len(m.Tiers) > 0 {
			names = append(names, id)
		}
	}
	return names
}

// laidID returns the name that a catalogue has for a model laid over it; empty if none can be.
func laidID(name string) string {
	var c catalog.Catalog
	m, _ := c.With(catalog.Model{ID: name}).Lookup(name)
	return m.ID
}

// settingsIn returns the path of the file of settings in a folder; empty if there is none.
// It is a regular file, as opening a pipe would wait for somebody to write, and in a folder
// that is not trusted no link to what lies elsewhere, whose content errors could show.
func settingsIn(dir string, untrusted bool) (string, error) {
	if dir == "" {
		return "", nil
	}
	var found []string
	for _, name := range settingsNames() {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
			continue
		case err != nil:
			return "", fmt.Errorf("config: load settings: %w", err)
		case !info.Mode().IsRegular():
			return "", fmt.Errorf("config: load settings: %w", notRegular(path, info))
		case untrusted && !isInside(dir, path):
			return "", fmt.Errorf("config: load settings: %s: want a file of the working folder, got a link that leads out of it", path)
		}
		found = append(found, path)
	}
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("config: load settings: want one file, got %s and %s", found[0], found[1])
}

func notRegular(path string, info os.FileInfo) error {
	return fmt.Errorf("%s: want a regular file, got %s", path, info.Mode().Type())
}

// readRegular reads a regular file, and of it no more than shows that it is too large.
// Nothing else is opened, as opening a pipe would wait for somebody to write.
func readRegular(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, notRegular(path, info)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	return data, errors.Join(err, f.Close())
}

// LoadSettings reads a regular file that the user has named, which may say everything. The error
// is a *SettingsError if the file could be read, with all faults and where they stand.
func LoadSettings(path string, known Known) (Settings, error) {
	return whole(loadSettings(path, settingsReader{known: known}))
}

// whole returns no settings where something is wrong with them.
func whole(s Settings, err error) (Settings, error) {
	if err != nil {
		return Settings{}, err
	}
	return s, nil
}

// loadSettings returns what can be read of a file, and what is wrong with it.
func loadSettings(path string, r settingsReader) (Settings, error) {
	data, err := readRegular(path)
	if err != nil {
		return Settings{}, fmt.Errorf("config: load settings: %w", err)
	}
	r.folder = filepath.Dir(path)
	return r.parse(path, data)
}

// ParseSettings is LoadSettings of a file whose content the caller has. The name tells the
// format and stands in errors; nothing is read.
func ParseSettings(name string, data []byte, known Known) (Settings, error) {
	r := settingsReader{known: known}
	return whole(r.parse(name, data))
}

// settingsFields and providerFields are the names that files may use.
var (
	settingsFields = []string{"model", "providers", "models", "defaults", outputsSection, compactionSection, agentSection, contextSection, "toolsAllowed", "toolsDenied"}
	providerFields = append([]string{"kind", "baseURL", "keyEnv", "keyCommand", "headers", "query", "models"}, fieldsOf(inProvider)...)
)

// unknownField says that a field is none, and which may have been meant.
func unknownField(path, name string, fields []string) string {
	text := fmt.Sprintf("%s: no such field", path)
	near := policy.Nearest(name, fields)
	for _, f := range fields {
		if folded(name) == folded(f) {
			near = f
		}
	}
	if near != "" {
		return text + ", did you mean " + near + "?"
	}
	return fmt.Sprintf("%s, want one of %v", text, fields)
}

// folded returns a name without what its spellings differ in: api_key, api-key, apiKey.
func folded(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}
