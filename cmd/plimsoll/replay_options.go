package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/reports"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/tokenizers"
)

// replayFlags are the flags of plimsoll replay.
type replayFlags struct {
	policies []string
	windows  []string
	model    string
	join     bool
	judge    bool
	json     bool
	out      string
	base     string
	ground   bool
	bill     bool
	page     htmlFlags
	db       string
	failOn   []string
}

// The conditions of --fail-on.
const (
	failOver       = "over"
	failOrphan     = "orphan"
	failUnresolved = "unresolved"
)

func failConditions() []string { return []string{failOver, failOrphan, failUnresolved} }

func (f *replayFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.policies, "policy", "p", []string{reports.PolicyOff, policy.DefaultPreset}, "preset, or `file` with a policy; may be given several times")
	fl.StringArrayVarP(&f.windows, "window", "w", []string{"model", "50%"}, "`tokens` (80000, 80k), a share of what the session needs (50%), or model for the model's own; may be given several times")
	fl.StringVarP(&f.model, "model", "m", "", "`model` to count and size for, in place of the session's own")
	fl.BoolVar(&f.join, "join", false, "ignore the compactions that the client made: one long session")
	fl.BoolVar(&f.judge, "judge", true, "check every request from its exported bytes")
	fl.BoolVar(&f.json, "json", false, "print one JSON object for each segment (docs/replay-json.md)")
	fl.StringVar(&f.base, "base", string(replay.BaseFull), "what is looked at: full, or `messages` alone by chars/4, to compare policies")
	fl.BoolVar(&f.ground, "grounding", true, "say what of what the agent's calls referred to each policy still sent (docs/replay.md)")
	fl.BoolVar(&f.bill, "bill", false, "list what each batch that broke the provider's cache cost and saved")
	f.page.register(cmd)
	fl.StringVar(&f.db, "db", "", "`file` of a store to keep in what each run took out and why (docs/store.md); by default nothing is kept")
	fl.StringVarP(&f.out, "out", "o", "", "empty or new `folder` to export every request to")
	fl.StringSliceVar(&f.failOn, "fail-on", nil, "exit with code 3 if any policy but off has any of: over, orphan, unresolved")
	_ = cmd.RegisterFlagCompletionFunc("policy", completePolicies)
	_ = cmd.RegisterFlagCompletionFunc("window", cobra.FixedCompletions([]string{"model", "100%", "50%", "25%"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("model", completeModels)
	_ = cmd.RegisterFlagCompletionFunc("base", cobra.FixedCompletions([]string{string(replay.BaseFull), string(replay.BaseMessages)}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions(failConditions(), cobra.ShellCompDirectiveNoFileComp))
}

// options turns the flags into what the replay takes.
func (f replayFlags) options() (replay.Options, error) {
	o := replay.Options{Model: f.model, Join: f.join, Judge: f.judge, Out: f.out, Base: replay.Base(f.base), Ground: f.ground, Batches: f.bill || f.page.html != "", Series: f.page.html != "", Other: tokenizers.Encoding}
	if err := f.checkFailOn(); err != nil {
		return o, err
	}
	cat, err := loadCatalog("")
	if err != nil {
		return o, err
	}
	o.Catalog = &cat
	if err := checkModel("replay", f.model, cat); err != nil {
		return o, err
	}
	if o.Base != "" && !slices.Contains(replay.Bases(), o.Base) {
		return o, usage(fmt.Errorf("replay: --base %q, want full or messages", f.base), "")
	}
	for _, name := range f.policies {
		p, err := loadHeldPolicy(name)
		if err != nil {
			return o, err
		}
		if slices.ContainsFunc(o.Policies, func(q policy.Policy) bool { return q.Name == p.Name }) {
			return o, usage(fmt.Errorf("replay: two policies are called %s", p.Name), "give a policy file a name of its own: name: my-policy")
		}
		o.Policies = append(o.Policies, p)
	}
	for _, text := range f.windows {
		w, err := replay.ParseWindow(text)
		if err != nil {
			return o, usage(fmt.Errorf("replay: --window %q, want tokens (80000 or 80k), a share of at most 1000%% (50%%) or model", text), "")
		}
		if slices.Contains(o.Windows, w) {
			return o, usage(fmt.Errorf("replay: --window %s is given twice", w), "")
		}
		o.Windows = append(o.Windows, w)
	}
	return o, nil
}

// checkFailOn refuses conditions that nobody knows, or that could never be met.
func (f replayFlags) checkFailOn() error {
	for _, c := range f.failOn {
		if !slices.Contains(failConditions(), c) {
			return usage(fmt.Errorf("replay: --fail-on %q, want one of %s", c, strings.Join(failConditions(), ", ")), "")
		}
		if c != failOver && !f.judge {
			return usage(fmt.Errorf("replay: --fail-on %s needs the check that --judge=false leaves out", c), "")
		}
	}
	if len(f.failOn) > 0 && !slices.ContainsFunc(f.policies, func(p string) bool { return p != reports.PolicyOff }) {
		return usage(errors.New("replay: --fail-on: off is there for comparison and never fails"), "add a policy, such as --policy balanced")
	}
	return nil
}

// checkOut refuses a folder in which exports would mix with something else: with
// other files, or with each other, since a session's folder has its file's name.
func (f replayFlags) checkOut(files []string) error {
	if f.out == "" {
		return nil
	}
	entries, err := os.ReadDir(f.out)
	switch {
	case err == nil && len(entries) > 0:
		return usage(fmt.Errorf("replay: --out %s: the folder is not empty", f.out), "name a new folder, so that no old exports are left among the new ones")
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return usage(fmt.Errorf("replay: --out: %w", err), "")
	}
	seen := map[string]string{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		if other, ok := seen[name]; ok {
			return usage(fmt.Errorf("replay: --out: %s and %s would be exported to the same folder %s", other, file, name), "replay them one at a time")
		}
		seen[name] = file
	}
	return nil
}
