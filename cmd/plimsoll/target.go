package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A target is the model that is asked.
type target struct {
	provider  client.Provider
	model     string
	maxOutput int    // tokens that the settings leave for the reply; 0: they do not say
	reasoning string // how hard the settings have it think; empty: they do not say
}

// targetNamed returns the model of a name that a flag of a command states.
func targetNamed(s config.Settings, flag, name string) (target, error) {
	provider, model, ok := client.Split(name)
	if !ok {
		return target{}, usage(fmt.Errorf("%s %q, want provider/model", flag, name), nameHint(s, provider, model, name))
	}
	p, ok := providerNamed(s, provider)
	if !ok {
		hint := "providers: " + strings.Join(providerNames(s), ", ")
		if near := policy.Nearest(provider, providerNames(s)); near != "" {
			hint = "did you mean " + near + "/" + model + "?"
		}
		command, _, _ := strings.Cut(flag, ":")
		return target{}, usage(fmt.Errorf("%s: provider %q is not known", command, provider), hint)
	}
	stated := s.Limits(config.Query{Provider: provider, Model: model})
	return target{p, model, stated.MaxOutputTokens.Value, string(stated.Reasoning.Value)}, nil
}

// nameHint says how a name with a half missing may be completed.
func nameHint(s config.Settings, provider, model, name string) string {
	p, known := providerNamed(s, strings.Trim(name, "/"))
	switch {
	case provider == "" && model == "":
		return "providers: " + strings.Join(providerNames(s), ", ")
	case provider == "":
		return "did you mean " + providerFor(model) + "/" + model + "?"
	case known && p.Model != "":
		return "name one of its models, as in " + p.Name + "/" + p.Model
	case known:
		return "name one of its models behind the slash"
	case strings.HasSuffix(name, "/"):
		return "providers: " + strings.Join(providerNames(s), ", ")
	}
	return "did you mean " + providerFor(name) + "/" + name + "?"
}

// providerNames returns all names that a model's may begin with.
func providerNames(s config.Settings) []string {
	names := client.Names()
	for _, p := range s.Providers {
		if !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// providerNamed returns the provider of that name, as the settings change it.
func providerNamed(s config.Settings, name string) (client.Provider, bool) {
	set, stated := s.Provider(name)
	if !stated {
		return client.Lookup(name)
	}
	p, ok := client.Lookup(set.Kind)
	p.Name = name
	if set.BaseURL != "" {
		p.BaseURL = set.BaseURL
	}
	if set.BaseURL != "" && name != set.Kind { // the variable is about another provider
		p.BaseEnv = nil
	}
	if set.KeyEnv != "" || len(set.KeyCommand) > 0 {
		p.UseKey(set.KeyEnv, set.KeyCommand)
	}
	p.Headers, p.Query = merged(p.Headers, set.Headers), merged(p.Query, set.Query)
	if len(set.Models) > 0 {
		p.Model = set.Models[0]
	}
	return p, ok
}

// merged returns what base and over state; over counts.
func merged(base, over map[string]string) map[string]string {
	all := maps.Clone(base)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, over)
	return all
}

// onlyModel returns the model that is asked if nothing says which: the first model of the
// only provider that the settings list models of, else the small model of the only
// provider that there is a key of.
func onlyModel(s config.Settings, env func(string) string) (string, error) {
	var found, seen []string
	for _, p := range s.Providers {
		if len(p.Models) > 0 {
			found = append(found, p.Name+"/"+p.Models[0])
		}
	}
	if len(found) == 0 {
		for _, name := range client.Names() {
			p, _ := client.Lookup(name)
			key := keyIn(p, env)
			if p.Model != "" && key != "" && !slices.Contains(seen, key) {
				found, seen = append(found, name+"/"+p.Model), append(seen, key)
			}
		}
	}
	switch len(found) {
	case 0:
		return "", usage(errors.New("ask: no model is named, and no key of a provider is in the environment"),
			"set a key such as ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY; or name a model that needs none, such as --model ollama/llama3.2")
	case 1:
		return found[0], nil
	}
	return "", usage(errors.New("ask: no model is named, and there are several to choose from"), "--model "+strings.Join(found, ", or --model "))
}

// keyIn returns the environment variable that holds a key of p; empty if none does.
func keyIn(p client.Provider, env func(string) string) string {
	for _, c := range p.Credentials {
		if c.Env != "" && strings.TrimSpace(env(c.Env)) != "" {
			return c.Env
		}
	}
	return ""
}

// providerFor guesses whose a model is.
func providerFor(model string) string {
	cat, err := catalog.Load()
	if err != nil {
		return "anthropic"
	}
	switch family := cat.FamilyOf(model).Name; {
	case strings.HasPrefix(family, "claude"):
		return "anthropic"
	case family == "openai", family == "gemini":
		return family
	}
	return "ollama"
}

// completeTargets offers models that the providers take by these names, with the
// providers in front.
func completeTargets(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	path, _ := cmd.Flags().GetString("config")
	s, err := loadSettings(path)
	if err != nil {
		s = config.Settings{} // its faults are told when it is used
	}
	var out []string
	if s.Model != "" {
		out = append(out, s.Model)
	}
	for _, p := range s.Providers {
		for _, m := range p.Models {
			out = append(out, p.Name+"/"+m)
		}
	}
	for _, name := range client.Names() {
		if p, _ := client.Lookup(name); p.Model != "" {
			out = append(out, name+"/"+p.Model)
		}
	}
	cat, err := loadCatalog(path)
	if err != nil {
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	for _, m := range cat.Models() {
		if p := providerFor(m.ID); p != "ollama" && len(m.Tiers) > 0 { // without a price nobody sells it
			out = append(out, p+"/"+cmp.Or(m.API, m.ID))
		}
	}
	slices.Sort(out)
	return slices.Compact(out), cobra.ShellCompDirectiveNoFileComp
}
