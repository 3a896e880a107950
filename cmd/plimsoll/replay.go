package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/reports"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
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

func newReplay(s streams) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay [PATH...]",
		Short: "Run recorded sessions under policies and windows, offline",
		Long: `Replay reads session files of agents (docs/session-formats.md lists them) and bare
request bodies, and shows what each policy would have sent at every step within each
window: what overflowed, what was taken out, how much smaller the calls were, what they
would have cost. It calls no model. A folder stands for all session files below it;
without a path it is the newest session on this machine.

A row is one policy on one window:

  limit        tokens that the policy lets a call have: the window less its buffer
               and the room for the reply
  steps        model calls; "25 of 42": the policy ended the session there
  over         calls that were sent above the limit; 0 for every policy but off
  irreducible  calls whose fixed parts alone are above the limit, so that no policy
               can send them: system prompt, tools, pinned messages, newest round
  sent         tokens of all calls together
  of raw       the same, compared with what the client itself sent
  peak         the largest call
  breaks       calls that lost what the provider's prompt cache still had of the call before
  cost         of all calls: what the client paid where the policy sends the same, else
               by the simulated prompt cache; left out where a price is not known
  edits        what was done, by kind

With --bill every batch that broke the provider's cache is listed, with what it cost and
saved. A second table says what of what the agent's calls referred to (paths,
names, lines that an edit replaces) each policy still sent; docs/replay.md explains it.

Policies keep different buffers, so their limits differ. Where they do, the last
rows judge all of them by the lowest limit of each window.`,
		Example: `  plimsoll replay session.jsonl
  plimsoll replay session.jsonl --policy balanced --policy off --window 50%
  plimsoll replay sessions/ --policy my-policy.yaml --window 80k --json
  plimsoll replay session.jsonl --policy balanced --window 60% --out exported
  plimsoll replay session.jsonl --html report.html`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
			return runReplay(ctx, s, f, args)
		},
	}
	f.register(cmd)
	return cmd
}

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

func runReplay(ctx context.Context, s streams, f replayFlags, paths []string) (err error) {
	opts, err := f.options()
	if err != nil {
		return err
	}
	if err := f.page.check("replay"); err != nil {
		return err
	}
	paths, err = orNewest("replay", s, paths)
	if err != nil {
		return err
	}
	files, skipped := findFiles(paths)
	switch {
	case skipped != nil && len(files) == 0:
		return noneThere("replay", skipped)
	case skipped != nil:
		printError(s.err, skipped)
	}
	if err := f.checkOut(files); err != nil {
		return err
	}
	if f.db != "" {
		db, err := sqlite.Open(ctx, f.db, sqlite.Options{})
		if err != nil {
			return storeError(ctx, "replay: --db", err)
		}
		opts.Store = db
		defer func() { // what was kept is on disk by then
			if closed := db.Close(); err == nil && closed != nil {
				err = storeError(ctx, "replay: --db", closed)
			}
		}()
	}
	r, err := replay.New(opts)
	if err != nil {
		return fail(err, "")
	}
	p := &replayPrinter{streams: s, flags: f, width: console.Width(s.out), bar: newBar(s.err, len(files)), seen: seenSessions{}, words: console.Glossary{Words: reports.ReplayWords()}}
	for _, file := range files {
		if err := p.file(ctx, r, file); err != nil {
			return err
		}
	}
	return p.finish(len(files))
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

// checkModel refuses a model of which not even the family is known: its window and
// its counts would be guesses that look like facts.
func checkModel(command, model string, cat catalog.Catalog) error {
	if model == "" {
		return nil
	}
	if cat.FamilyOf(model).Name == catalog.UnknownFamily {
		if _, ok := cat.Lookup(model); !ok {
			return unknownModel(command, model, cat)
		}
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

// newBar returns a progress bar for more than one file, or nil where nobody
// would see it.
func newBar(w io.Writer, files int) *progressbar.ProgressBar {
	if files < 2 || !console.IsTerminal(w) || console.IsDumb() {
		return nil
	}
	return progressbar.NewOptions(files,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("replaying"),
		progressbar.OptionClearOnFinish(), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true))
}
