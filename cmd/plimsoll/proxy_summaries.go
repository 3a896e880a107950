package main

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

// summariserOf returns what asks the model that the section compaction names; nil: it
// names none.
func summariserOf(s config.Settings, c catalog.Catalog) (plimsoll.Summariser, error) {
	if s.Defaults.Compaction == nil || !s.Defaults.Compaction.Model.Set() {
		return nil, nil //nolint:nilnil // the default is the library's
	}
	stated := s.Defaults.Compaction.Model
	provider, model, _ := client.Split(stated.Value)
	p, ok := providerNamed(s, provider)
	if !ok {
		return nil, fail(fmt.Errorf("%s: provider %q is not known", stated.From, provider), settingsPage)
	}
	asked, err := client.New(p, client.Options{UserAgent: "plimsoll/" + version()})
	if err != nil {
		return nil, fail(err, settingsPage)
	}
	l := s.Limits(config.Query{Provider: provider, Model: model, Catalog: c})
	return plimsoll.ModelSummariser{
		Model: asked, Catalog: &c,
		Target: budget.Target{Provider: provider, Model: model, Window: budget.Window{Capacity: l.ContextWindow.Value, OutputReserve: l.MaxOutputTokens.Value}},
	}, nil
}
