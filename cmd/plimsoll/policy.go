package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

func newPolicy(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "List, show, explain and check policies",
		Long: `A policy says as plain data what is done about a full context, and when. A preset
has a name; a policy of one's own is a YAML, TOML or JSON file, which may extend a preset.`,
	}
	cmd.AddCommand(newPolicyList(s), newPolicyShow(s), newPolicyExplain(s), newPolicyCheck(s))
	return cmd
}

func newPolicyList(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the presets", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var rows [][]string
			for _, name := range policy.Presets() {
				p, err := policy.Preset(name)
				if err != nil {
					return fail(err, "")
				}
				rows = append(rows, []string{p.Name, p.About})
				if asJSON {
					if err := json.NewEncoder(s.out).Encode(map[string]string{"name": p.Name, "about": p.About}); err != nil {
						return fail(err, "")
					}
				}
			}
			if asJSON {
				return nil
			}
			return fail(printTable(s.out, []string{"policy", "what it does"}, rows), "")
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

func newPolicyShow(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME|FILE", Short: "Print a policy as JSON, with every default filled in",
		Args: cobra.ExactArgs(1), ValidArgsFunction: completePolicies,
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := loadPolicy(args[0])
			if err != nil {
				return err
			}
			_, err = s.out.Write(append(p.JSON(), '\n'))
			return fail(err, "")
		},
	}
}

func newPolicyExplain(s streams) *cobra.Command {
	var window, buffer, output int
	cmd := &cobra.Command{
		Use: "explain NAME|FILE", Short: "Show each threshold of a policy in tokens of a window",
		Example: "  plimsoll policy explain balanced --window 200000",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: completePolicies,
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := loadPolicy(args[0])
			if err != nil {
				return err
			}
			w, err := figures(p, window, buffer, output)
			if err != nil {
				return err
			}
			return fail(printExplain(s.out, p, w), "")
		},
	}
	f := cmd.Flags()
	f.IntVarP(&window, "window", "w", 200_000, "capacity of the model's window in tokens")
	f.IntVar(&buffer, "buffer", 0, "tokens kept free; 0: the policy's")
	f.IntVar(&output, "output", 0, "tokens reserved for the reply; 0: the policy's")
	return cmd
}

// figures returns the window that a policy has within a capacity.
func figures(p policy.Policy, capacity, buffer, output int) (policy.WindowFigures, error) {
	w := policy.WindowFigures{Capacity: capacity, Buffer: p.Window.Buffer}
	if buffer > 0 && p.Window.Buffer > 0 {
		w.Buffer = buffer
	}
	if p.Window.ReserveOutput {
		switch {
		case output > 0:
			w.Output = output
		case p.Window.Output > 0:
			w.Output = p.Window.Output
		default:
			w.Output = capacity * p.Window.OutputPermille / 1000
		}
	}
	err := budget.Window{Capacity: w.Capacity, Buffer: w.Buffer, OutputReserve: w.Output}.Validate()
	return w, usage(err, "choose a larger --window, or a smaller --buffer or --output")
}

func newPolicyCheck(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "check FILE...", Short: "Check policy files and report every fault at once", Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			var bad []string
			for _, path := range args {
				p, err := loadPolicy(path)
				if err != nil {
					bad = append(bad, err.Error())
					continue
				}
				fmt.Fprintf(s.out, "%s: ok (%s, %d rules)\n", path, p.Name, len(p.Rules))
			}
			if len(bad) > 0 {
				return fail(fmt.Errorf("%s", strings.Join(bad, "\n")), "plimsoll policy show balanced prints a whole policy to start from")
			}
			return nil
		},
	}
}

// loadPolicy returns the preset of that name, or the policy in that file.
func loadPolicy(name string) (policy.Policy, error) {
	if isPreset(name) {
		p, err := policy.Preset(name)
		return p, fail(err, "")
	}
	if _, err := os.Stat(name); err != nil {
		if strings.ContainsAny(name, "./\\") {
			return policy.Policy{}, fail(fmt.Errorf("policy: %w", err), "")
		}
		_, err := policy.Preset(name)
		return policy.Policy{}, usage(err, "plimsoll policy list shows the presets; a file is named by its path")
	}
	p, err := config.LoadPolicy(name)
	return p, fail(err, "")
}

func isPreset(name string) bool {
	for _, p := range policy.Presets() {
		if p == name {
			return true
		}
	}
	return false
}

func completePolicies(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return policy.Presets(), cobra.ShellCompDirectiveDefault
}
