package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// unknownModel is the error for a model of which nothing is known.
func unknownModel(command, model string, cat catalog.Catalog) error {
	hint := "name an encoding with --encoding, such as o200k_base or approximate"
	if command != "count" {
		hint = "leave --model out to take the session's own"
	}
	if near := nearestModel(model, cat); near != "" {
		hint = "did you mean " + near + "?"
	}
	return usage(fmt.Errorf("%s: --model %q is not known", command, model), hint)
}

// completeModels offers the catalogue's models.
func completeModels(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	cat, err := loadCatalog("")
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return modelIDs(cat), cobra.ShellCompDirectiveNoFileComp
}

// nearestModel returns the model that was most likely meant; empty if none is near.
// Two letters that changed places come first: there are many short names.
func nearestModel(name string, c catalog.Catalog) string {
	name = strings.ToLower(name)
	for i := 1; i < len(name); i++ {
		if m, ok := c.Lookup(name[:i-1] + name[i:i+1] + name[i-1:i] + name[i+1:]); ok {
			return m.ID
		}
	}
	return policy.Nearest(name, modelIDs(c))
}

func modelIDs(c catalog.Catalog) []string {
	var ids []string
	for _, m := range c.Models() {
		ids = append(ids, m.ID)
	}
	return ids
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
