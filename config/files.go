package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
)

// settingsNames are what files of settings are called.
func settingsNames() []string { return []string{"plimsoll.yaml", "plimsoll.toml"} }

// A SettingsFile is a place where settings are looked for.
type SettingsFile struct {
	Path    string
	Working bool // in the working folder, whose files are not trusted with everything
	Found   bool // something has that name
}

// SettingsFiles returns all places where FindSettings looks, in its order.
func SettingsFiles(working, user string) []SettingsFile {
	var out []SettingsFile
	for _, dir := range []string{working, user} {
		if dir == "" {
			continue
		}
		for _, name := range settingsNames() {
			path := filepath.Join(dir, name)
			_, err := os.Stat(path)
			out = append(out, SettingsFile{Path: path, Working: dir == working, Found: !errors.Is(err, os.ErrNotExist)})
		}
	}
	return out
}

// A CheckedFile is a file of settings that was read, or the folder that has two.
type CheckedFile struct {
	Path     string
	Settings Settings // what it says by itself; with faults what can be read of it
	Err      error    // as of LoadSettings
}

// FindSettings loads the settings of the working folder and those of the user's folder,
// if there are any. What the first says goes before the second: its model, its defaults
// and what it says about a model field by field, and each of its providers: as a whole if
// it says how that one is reached, so that no key goes where the user did not send it, else
// field by field. Both files' lists of tools hold. An empty folder is none.
func FindSettings(working, user string, known Known) (Settings, error) {
	s, files := CheckSettings(working, user, known)
	for _, f := range files {
		if f.Err != nil {
			return Settings{}, f.Err
		}
	}
	return s, nil
}

// CheckSettings is FindSettings that goes on after a fault: it returns every file that is
// there with what is wrong with it, and the settings of those with which nothing is.
func CheckSettings(working, user string, known Known) (Settings, []CheckedFile) {
	var all Settings
	var files []CheckedFile
	var own Settings // what the user's file says, as far as it can be read
	for _, dir := range []string{user, working} {
		if dir == "" {
			continue
		}
		untrusted := dir == working
		path, err := settingsIn(dir, untrusted)
		if err == nil && path == "" {
			continue
		}
		var s Settings
		if err != nil {
			path = dir
		} else {
			r := settingsReader{known: known, untrusted: untrusted, described: own.Providers}
			s, err = loadSettings(path, r)
		}
		files = slices.Insert(files, 0, CheckedFile{path, s, err})
		own = s
		if err != nil {
			continue
		}
		if priced := pricedIn(s.Models); untrusted && len(priced) > 0 {
			all.PricesFrom, all.Priced = path, priced
		}
		all = s.over(all)
	}
	return all, files
}

// over returns s laid over under.
func (s Settings) over(under Settings) Settings {
	all := under
	if s.Model != "" {
		all.Model = s.Model
	}
	all.Providers = nil
	for _, p := range s.Providers {
		if old, ok := under.Provider(p.Name); ok && !p.says(old) {
			p = p.over(old)
		}
		all.Providers = append(all.Providers, p)
	}
	for _, p := range under.Providers {
		if _, ok := s.Provider(p.Name); !ok {
			all.Providers = append(all.Providers, p)
		}
	}
	all.Models = append(slices.Clone(under.Models), s.Models...) // of two about one model the later counts
	all.Facts = append(slices.Clone(s.Facts), under.Facts...)
	all.Agent, all.Defaults = s.Agent.over(under.Agent), s.Defaults.over(under.Defaults)
	all.Loop = s.Loop.over(under.Loop)
	all.Tools = append(slices.Clone(s.Tools), under.Tools...)
	return all
}

// says reports whether p says how the provider is reached, otherwise than old.
func (p ProviderSettings) says(old ProviderSettings) bool {
	return p.BaseURL != "" || p.KeyEnv != "" || len(p.KeyCommand) > 0 || len(p.Headers) > 0 || len(p.Query) > 0 || p.Kind != old.Kind
}

// over returns old with the models and limits of p laid over it.
func (p ProviderSettings) over(old ProviderSettings) ProviderSettings {
	models := slices.Clone(p.Models)
	for _, m := range old.Models {
		if !slices.Contains(models, m) {
			models = append(models, m)
		}
	}
	old.Models = models
	old.Limits = p.Limits.over(old.Limits)
	old.ModelLimits = append(slices.Clone(p.ModelLimits), old.ModelLimits...)
	return old
}
