package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

type fault struct {
	Line   int    `json:"line"` // from 1; 0: the file as a whole
	Column int    `json:"column"`
	What   string `json:"what"`
}

// policy returns the policy of a name, or that on the standard input.
func (s streams) policy(name string) (policy.Policy, error) {
	if name != stdinName {
		return loadPolicy(name)
	}
	text, err := io.ReadAll(s.in)
	if err != nil {
		return policy.Policy{}, fail(fmt.Errorf("policy: %w", err), "")
	}
	p, err := config.ParsePolicy(name, text)
	return p, fail(err, startingPoint)
}

// startingPoint is the hint for those whose policy has faults.
const startingPoint = "plimsoll policy show balanced prints a whole policy to start from"

// loadHeldPolicy is loadPolicy with what the settings say of tool outputs in its rules.
func loadHeldPolicy(name string) (policy.Policy, error) {
	p, err := loadPolicy(name)
	if err != nil {
		return p, err
	}
	s, err := loadSettings("")
	if err != nil {
		return p, fail(err, settingsPage)
	}
	p, _ = s.ApplyTo(p)
	return p, nil
}

// loadPolicy returns the preset of that name, or the policy in that file.
func loadPolicy(name string) (policy.Policy, error) {
	if slices.Contains(policy.Presets(), name) {
		p, err := policy.Preset(name)
		return p, fail(err, "")
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return policy.Policy{}, fail(fmt.Errorf("policy: %s is a folder, want a preset or a file", name), "")
	case err == nil && !info.Mode().IsRegular(): // opening a pipe would wait for somebody to write
		return policy.Policy{}, fail(fmt.Errorf("policy: %s: want a preset or a regular file, got %s", name, info.Mode().Type()), "")
	case err != nil && strings.ContainsAny(name, `./\`):
		return policy.Policy{}, fail(fmt.Errorf("policy: %w", err), "")
	case err != nil:
		hint := "plimsoll policy list shows the presets; a file of one's own is named by its path, such as my-policy.yaml"
		if near := policy.Nearest(name, policy.Presets()); near != "" {
			hint = "did you mean " + near + "?"
		}
		return policy.Policy{}, usage(fmt.Errorf("policy: %q is no preset and no file", name), hint)
	}
	p, err := config.LoadPolicy(name)
	return p, fail(err, startingPoint)
}

// completePolicies offers the presets, and files.
func completePolicies(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return policy.Presets(), cobra.ShellCompDirectiveDefault
}
