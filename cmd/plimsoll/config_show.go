package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// showFlags are the flags of plimsoll config show.
type showFlags struct {
	provider, model, policy string
	config                  string
	override                []string
	json                    bool
}

func newConfigShow(s streams) *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use: "show", Short: "Show each setting of a model, and where it came from",
		Long: `Show each setting of a model as it holds under a policy, and where it came from. The
nearest place counts: --override, then in the files the model, its provider and the
section models, then what is known of the model (plimsoll models), the section
defaults, the policy.

The model is that of the file if none is named. A provider without a model shows what
holds for all its models.`,
		Example: `  plimsoll config show --model openai/gpt-5
  plimsoll config show --provider openai --model gpt-5 --policy guard
  plimsoll config show --model openai/gpt-5 --override contextWindow=64k --json`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return runConfigShow(s, f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.provider, "provider", "", "`provider` of the model")
	fl.StringVarP(&f.model, "model", "m", "", "`model`, as provider/model or beside --provider")
	fl.StringVarP(&f.policy, "policy", "p", policy.DefaultPreset, "preset, or `file` with a policy")
	fl.StringArrayVar(&f.override, "override", nil, "`name=value` that goes before the files; may be given several times")
	fl.StringVar(&f.config, "config", "", "`file` of settings to read, in place of those in the folders")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	_ = cmd.RegisterFlagCompletionFunc("provider", completeProviders)
	_ = cmd.RegisterFlagCompletionFunc("model", completeShown)
	_ = cmd.RegisterFlagCompletionFunc("policy", completePolicies)
	_ = cmd.RegisterFlagCompletionFunc("override", completeOverrides)
	return cmd
}

func runConfigShow(s streams, f showFlags) error {
	settings, err := loadSettings(f.config)
	if err != nil {
		return fail(err, settingsPage)
	}
	q, err := f.query(settings)
	if err != nil {
		return err
	}
	r, err := settings.Resolve(q)
	if err != nil {
		hint := "plimsoll config show --override NAME=N tries another figure: contextWindow, contextWindowBufferTokens or maxOutputTokens"
		if errors.Is(err, budget.ErrUnknownWindow) {
			hint = "state contextWindow of the model or its provider (plimsoll config --help)"
		}
		return fail(errors.New("config show: "+strings.TrimPrefix(err.Error(), "config: resolve ")), hint)
	}
	shown := newShownConfig(q, settings, r)
	shown.Files = f.files()
	if f.json {
		return fail(console.PrintJSON(s.out, shown), "")
	}
	return fail(shown.print(s.out), "")
}

// query returns what the flags ask for.
func (f showFlags) query(s config.Settings) (config.Query, error) {
	var q config.Query
	known, err := knownSettings()
	if err != nil {
		return q, fail(err, "")
	}
	if q.Override, err = config.ParseOverrides(f.override, known); err != nil {
		return q, usage(overrideError(err), "names: "+strings.Join(config.OverrideFields(), ", "))
	}
	if q.Policy, err = loadPolicy(f.policy); err != nil {
		return q, err
	}
	if q.Catalog, err = catalog.Load(); err != nil {
		return q, fail(err, "")
	}
	q.Provider, q.Model = f.provider, f.model
	if f.provider == "" {
		name := f.model
		if name == "" {
			name = s.Model
		}
		var ok bool
		if q.Provider, q.Model, ok = client.Split(name); !ok && name != "" {
			return q, usage(fmt.Errorf("config show: --model %q, want provider/model, or --provider beside it", name), shownNameHint(s, q, name))
		}
	}
	if names := providerNames(s); q.Provider != "" && !slices.Contains(names, q.Provider) {
		hint := "providers: " + strings.Join(names, ", ")
		if near := policy.Nearest(q.Provider, names); near != "" {
			hint = "did you mean " + near + "?"
		}
		return q, usage(fmt.Errorf("config show: provider %q is not known", q.Provider), hint)
	}
	return q, nil
}

// shownNameHint says how a name with a half missing may be completed. A model that nobody
// knows may be any provider's.
func shownNameHint(s config.Settings, q config.Query, name string) string {
	names := providerNames(s)
	if _, known := q.Catalog.With(s.Models...).Lookup(strings.Trim(name, "/")); !known && !slices.Contains(names, strings.Trim(name, "/")) {
		return "providers: " + strings.Join(names, ", ")
	}
	return nameHint(s, q.Provider, q.Model, name)
}

// overrideError names the flag in an error of ParseOverrides.
func overrideError(err error) error {
	lines := strings.Split(strings.TrimPrefix(err.Error(), "config: "), "\n")
	for i, l := range lines {
		lines[i] = "config show: --" + l
	}
	return errors.New(strings.Join(lines, "\n"))
}

// files returns where was looked for settings.
func (f showFlags) files() []shownFile {
	if f.config != "" {
		return []shownFile{{f.config, true}}
	}
	var out []shownFile
	for _, file := range config.SettingsFiles(settingsFolders()) {
		out = append(out, shownFile{file.Path, file.Found})
	}
	return out
}

// completeProviders offers all names that a model's may begin with.
func completeProviders(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return providerNames(settingsOf(cmd)), cobra.ShellCompDirectiveNoFileComp
}

// settingsOf returns the settings of a command line that is being completed; what is
// wrong with them is told when they are used.
func settingsOf(cmd *cobra.Command) config.Settings {
	path, _ := cmd.Flags().GetString("config")
	s, err := loadSettings(path)
	if err != nil {
		return config.Settings{}
	}
	return s
}

// completeShown offers models: those of the provider that is named, else with the
// providers in front.
func completeShown(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	all, directive := completeTargets(cmd, args, word)
	provider, _ := cmd.Flags().GetString("provider")
	if provider == "" {
		return all, directive
	}
	var out []string
	for _, name := range all {
		if model, ok := strings.CutPrefix(name, provider+"/"); ok {
			out = append(out, model)
		}
	}
	return out, directive
}

// completeOverrides offers the names of limits.
func completeOverrides(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, name := range config.OverrideFields() {
		out = append(out, name+"=")
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
