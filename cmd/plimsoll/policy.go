package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

func newPolicy(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "List, show, explain and check policies",
		Long: `A policy says as plain data what is done about a full context, and when. A preset
has a name; a policy of one's own is a YAML, TOML or JSON file, which may extend a
preset.`,
		Args: noSuchCommand,
		RunE: showHelp,
	}
	cmd.AddCommand(newPolicyList(s), newPolicyShow(s), newPolicyExplain(s), newPolicyCheck(s))
	return cmd
}

// listed is what plimsoll policy list --json prints for each preset.
type listed struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

func newPolicyList(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the presets",
		Example: "  plimsoll policy list",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			t := console.Table{Columns: []console.Column{{Name: "policy"}, {Name: "what it does", Wrap: true}}, Width: console.Width(s.out)}
			for _, name := range policy.Presets() {
				p, err := policy.Preset(name)
				if err != nil {
					return fail(err, "")
				}
				if asJSON {
					if err := console.PrintJSON(s.out, listed{p.Name, p.About}); err != nil {
						return fail(err, "")
					}
				}
				t.Rows = append(t.Rows, console.Plain(p.Name, p.About))
			}
			if asJSON {
				return nil
			}
			_, err := lipgloss.Fprint(s.out, t.String())
			return fail(err, "")
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

func newPolicyShow(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME|FILE", Short: "Print a policy as JSON, with every default filled in",
		Long: `Print a policy as JSON, with every default filled in and everything that it takes
from a preset. The output is a policy file itself; one that is changed needs a
name of its own.`,
		Example: "  plimsoll policy show balanced > my-policy.json",
		Args:    wantArgs(1, 1, "policy"), ValidArgsFunction: completePolicies,
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := loadPolicy(args[0])
			if err != nil {
				return err
			}
			var b bytes.Buffer
			if err := json.Indent(&b, p.JSON(), "", "  "); err != nil {
				return fail(err, "")
			}
			_, err = fmt.Fprintln(s.out, console.SafeJSON(b.String()))
			return fail(err, "")
		},
	}
}

// checked is what plimsoll policy check --json prints for each file.
type checked struct {
	File   string  `json:"file"`
	Policy string  `json:"policy"` // its name; empty if it has faults
	Faults []fault `json:"faults"`
}

func newPolicyCheck(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "check FILE...", Short: "Check policy files and report every fault at once",
		Long: `Check policy files and report every fault at once, each with its place in the file.
The exit code is 1 if any file has a fault.`,
		Example: "  plimsoll policy check my-policy.yaml",
		Args:    wantArgs(1, 0, "policy file"),
		RunE:    func(_ *cobra.Command, args []string) error { return runCheck(s, asJSON, args) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

func runCheck(s streams, asJSON bool, files []string) error {
	var wrong []string
	for _, path := range files {
		p, err := s.policy(path)
		if err != nil {
			wrong = append(wrong, message(err))
		}
		switch {
		case asJSON:
			err = console.PrintJSON(s.out, newChecked(path, p, err))
		case err == nil:
			_, err = fmt.Fprintf(s.out, "%s: ok: policy %s, %s\n", console.Safe(path), console.Safe(p.Name), console.Plural(len(p.Rules), "rule"))
		default:
			continue
		}
		if err != nil {
			return fail(err, "")
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return fail(errors.New(strings.Join(wrong, "\n")), startingPoint)
}

func newChecked(path string, p policy.Policy, err error) checked {
	out := checked{File: path, Policy: p.Name, Faults: []fault{}}
	if f, ok := errors.AsType[*config.FileError](err); ok {
		for _, problem := range f.Problems {
			out.Faults = append(out.Faults, fault{problem.Line, problem.Column, problem.Text})
		}
		return out
	}
	if err != nil {
		out.Faults = append(out.Faults, fault{What: err.Error()})
	}
	return out
}
