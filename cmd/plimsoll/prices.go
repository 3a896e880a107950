package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

// tellPrices says which of these models have prices that a file in the working folder
// states: it may have come with somebody else's work, and the figures would not show it.
func tellPrices(w io.Writer, models []string) error {
	if !anyFile("plimsoll.yaml", "plimsoll.toml") {
		return nil
	}
	settings, err := loadSettings("")
	if err != nil || settings.PricesFrom == "" {
		return err
	}
	cat, err := catalog.Load()
	if err != nil {
		return err
	}
	cat = cat.With(settings.Models...)
	var named []string
	for _, name := range models {
		if m, ok := cat.Lookup(name); ok && slices.Contains(settings.Priced, m.ID) && !slices.Contains(named, m.ID) {
			named = append(named, m.ID)
		}
	}
	if len(named) == 0 {
		return nil
	}
	line := "prices of " + console.Safe(strings.Join(named, ", ")) + " from ." + string(filepath.Separator) + console.Safe(settings.PricesFrom)
	_, err = lipgloss.Fprintln(w, console.NewStyles().Dim.Render(line))
	return err
}

// anyFile reports whether one of these is there.
func anyFile(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, err := os.Lstat(name)
		return !errors.Is(err, os.ErrNotExist)
	})
}
