package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
)

// loadSettings reads the file that is named, else those that are found.
func loadSettings(path string) (config.Settings, error) {
	known, err := knownSettings()
	if err != nil {
		return config.Settings{}, err
	}
	if path != "" {
		return config.LoadSettings(path, known)
	}
	working, user := settingsFolders()
	return config.FindSettings(working, user, known)
}

// settingsFolders returns where settings are looked for; empty: nowhere.
func settingsFolders() (working, user string) {
	working = "."
	if dir, err := os.UserConfigDir(); err == nil { // without a home there is none
		user = filepath.Join(dir, "plimsoll")
	}
	here, err := os.Stat(working)
	if there, err2 := os.Stat(user); err == nil && err2 == nil && os.SameFile(here, there) {
		working = ""
	}
	return working, user
}

// settingsPage is the hint for those whose settings have faults.
const settingsPage = "plimsoll config --help describes the file"

// isSet reports whether an environment variable has a value.
func isSet(name string) bool { return strings.TrimSpace(os.Getenv(name)) != "" }

// loadCatalog returns what is known about models, with what the settings say laid
// over it. The path is that of a file of settings; empty: those that are found.
func loadCatalog(path string) (catalog.Catalog, error) {
	c, err := catalog.Load()
	if err != nil {
		return c, fail(err, "")
	}
	s, err := loadSettings(path)
	if err != nil {
		return c, fail(err, "plimsoll config check FILE lists every fault")
	}
	return c.With(s.Models...), nil
}

// knownSettings is what the reader of settings is told.
func knownSettings() (config.Known, error) {
	known := config.Known{Kinds: client.Names(), Aliases: map[string]string{"google": "gemini"}, CarriesKey: client.CarriesKey}
	c, err := catalog.Load()
	if err != nil {
		return known, err
	}
	for _, f := range c.Families() {
		known.Families = append(known.Families, f.Name)
	}
	for _, r := range c.CacheRules() {
		known.Caches = append(known.Caches, r.Name)
	}
	loaded := map[string]*bpe.Encoding{} // a file may name one for each of many models
	load := func(name string) (e *bpe.Encoding, err error) {
		if e = loaded[name]; e == nil {
			e, err = bpe.Load(name)
			loaded[name] = e
		}
		return e, err
	}
	known.Tokenizer = func(id string) error {
		_, err := token.NewCounter(id, load)
		if errors.Is(err, token.ErrNeedsFile) {
			return nil // the file is read where the model is used: that takes a second
		}
		return err
	}
	return known, nil
}
