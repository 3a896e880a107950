package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

func newConfigCheck(s streams) *cobra.Command {
	var asJSON bool
	preset := policy.DefaultPreset
	cmd := &cobra.Command{
		Use: "check [FILE...]", Short: "Check settings and report every fault at once",
		Long: `Check the settings that every command would use and report every fault at once, each
with its place in the file. Files that are named are checked instead, each by itself
and as --config reads it: it may say everything. What a file in the working folder
may not say is found without naming it.

Windows in which nothing is left for a prompt are faults, too: those of every model
that a file names, under the policy that --policy names.

The exit code is 1 if any file has a fault.`,
		Example: `  plimsoll config check
  plimsoll config check team.yaml --json
  plimsoll config check --policy guard`,
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := loadPolicy(preset)
			if err != nil {
				return err
			}
			return runConfigCheck(s, asJSON, p, args)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	cmd.Flags().StringVarP(&preset, "policy", "p", preset, "preset, or `file` with a policy")
	_ = cmd.RegisterFlagCompletionFunc("policy", completePolicies)
	return cmd
}

// checkedSettings is what plimsoll config check --json prints for each file.
type checkedSettings struct {
	File   string  `json:"file"`
	Faults []fault `json:"faults"`
}

// A settingsCheck is one file that was checked.
type settingsCheck struct {
	path     string
	settings config.Settings
	faults   []fault
}

func runConfigCheck(s streams, asJSON bool, p policy.Policy, files []string) error {
	known, err := knownSettings()
	if err != nil {
		return fail(err, "")
	}
	var checks []settingsCheck
	if len(files) == 0 {
		checks, err = checkFound(known, p)
	} else {
		checks, err = s.checkNamed(files, known, p)
	}
	if err != nil {
		return fail(err, "")
	}
	if len(checks) == 0 && !asJSON {
		_, err := fmt.Fprintf(s.out, "no settings: there is none of %s\n", console.Safe(strings.Join(placesOfSettings(), ", ")))
		return fail(err, "")
	}
	var wrong []string
	for _, c := range checks {
		for _, f := range c.faults {
			wrong = append(wrong, f.line(c.path))
		}
		switch {
		case asJSON:
			err = console.PrintJSON(s.out, checkedSettings{c.path, append([]fault{}, c.faults...)})
		case len(c.faults) == 0:
			_, err = fmt.Fprintf(s.out, "%s: ok: %s\n", console.Safe(c.path), contents(c.settings))
		}
		if err != nil {
			return fail(err, "")
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return fail(errors.New(strings.Join(wrong, "\n")), settingsPage)
}

// line writes a fault with its place, so that an editor finds it.
func (f fault) line(path string) string {
	if f.Line == 0 {
		return f.What
	}
	return fmt.Sprintf("%s:%d:%d: %s", path, f.Line, f.Column, f.What)
}

// contents says what a file of settings has.
func contents(s config.Settings) string {
	models := len(s.Models)
	for _, p := range s.Providers {
		models += len(p.Models)
	}
	return console.Plural(len(s.Providers), "provider") + ", " + console.Plural(models, "model")
}

// checkFound checks the settings that commands find. What the files say together is
// looked at where each of them is right by itself.
func checkFound(known config.Known, p policy.Policy) ([]settingsCheck, error) {
	working, user := settingsFolders()
	all, files := config.CheckSettings(working, user, known)
	var checks []settingsCheck
	wrong := false
	for _, f := range files {
		c := settingsCheck{path: f.Path, settings: f.Settings, faults: faultsOf(f.Err)}
		checks, wrong = append(checks, c), wrong || f.Err != nil
	}
	if wrong || len(checks) == 0 {
		return checks, nil
	}
	fileFaults(all, checks)
	return checks, roomFaults(all, p, checks)
}

// checkNamed checks files one by one.
func (s streams) checkNamed(files []string, known config.Known, p policy.Policy) ([]settingsCheck, error) {
	var checks []settingsCheck
	for _, path := range files {
		stated, err := s.settings(path, known)
		one := []settingsCheck{{path: path, settings: stated, faults: faultsOf(err)}}
		if err == nil {
			fileFaults(stated, one)
			if err := roomFaults(stated, p, one); err != nil {
				return nil, err
			}
		}
		checks = append(checks, one...)
	}
	return checks, nil
}

// settings reads a file of settings, or the standard input.
func (s streams) settings(path string, known config.Known) (config.Settings, error) {
	if path != stdinName {
		return config.LoadSettings(path, known)
	}
	text, err := io.ReadAll(s.in)
	if err != nil {
		return config.Settings{}, err
	}
	return config.ParseSettings(path, text, known)
}

// faultsOf returns what is wrong with a file.
func faultsOf(err error) []fault {
	var out []fault
	if f, ok := errors.AsType[*config.FileError](err); ok {
		for _, p := range f.Problems {
			what := p.Text
			if p.Line == 0 {
				what = f.File + ": " + what
			}
			out = append(out, fault{p.Line, p.Column, what})
		}
		return out
	}
	if err != nil {
		out = append(out, fault{What: strings.TrimPrefix(err.Error(), "config: load settings: ")})
	}
	return out
}

// add adds a fault to the file that it is in.
func add(checks []settingsCheck, at config.Origin, what string) {
	for i := range checks {
		if checks[i].path == at.File {
			checks[i].faults = append(checks[i].faults, fault{at.Line, at.Column, at.Field + ": " + what})
		}
	}
}

// fileFaults adds the tokenizers' files that are not there.
func fileFaults(s config.Settings, checks []settingsCheck) {
	for _, f := range s.TokenizerFiles() {
		if _, err := os.Stat(f.Value); err != nil {
			add(checks, f.From, fmt.Sprintf("want the file of a tokenizer, got %v", err))
		}
	}
}

// roomFaults adds to the files the windows in which nothing is left for a prompt, with
// what the catalogue and the policy add to the figures, and those that nobody knows where
// the policy wants to know them: what config show says of the models that files name.
func roomFaults(s config.Settings, p policy.Policy, checks []settingsCheck) error {
	cat, err := catalog.Load()
	if err != nil {
		return err
	}
	seen := map[config.Origin]bool{}
	for _, q := range targetsOf(s) {
		q.Policy, q.Catalog = p, cat
		_, err := s.Resolve(q)
		room, ok := errors.AsType[*config.RoomError](err)
		switch {
		case ok && room.From != (config.Origin{}):
			if !seen[room.From] {
				add(checks, room.From, room.Text())
			}
			seen[room.From] = true
		case q.Model != "" && err != nil: // of no figure in a file
			for i := range checks {
				if namesTarget(checks[i].settings, q) {
					what := checks[i].path + ": " + strings.TrimPrefix(err.Error(), "config: resolve ")
					checks[i].faults = append(checks[i].faults, fault{What: what})
					break
				}
			}
		}
	}
	return nil
}

// targetsOf returns what settings can be resolved for: any model, and the providers and
// models that they name.
func targetsOf(s config.Settings) []config.Query {
	out := []config.Query{{}}
	if provider, model, ok := client.Split(s.Model); ok && !namesModel(s, provider, model) {
		out = append(out, config.Query{Provider: provider, Model: model})
	}
	for _, p := range s.Providers {
		out = append(out, config.Query{Provider: p.Name})
		for _, m := range p.Models {
			out = append(out, config.Query{Provider: p.Name, Model: m})
		}
	}
	return out
}

// namesModel reports whether a model is one of those that s has of its provider.
func namesModel(s config.Settings, provider, model string) bool {
	p, _ := s.Provider(provider)
	return slices.Contains(p.Models, model)
}

// namesTarget reports whether s names a model, as its own or as a provider's.
func namesTarget(s config.Settings, q config.Query) bool {
	return s.Model == q.Provider+"/"+q.Model || namesModel(s, q.Provider, q.Model)
}

// placesOfSettings returns where settings are looked for.
func placesOfSettings() []string {
	var out []string
	for _, f := range config.SettingsFiles(settingsFolders()) {
		out = append(out, f.Path)
	}
	return out
}
