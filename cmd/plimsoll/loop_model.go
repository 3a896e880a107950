package main

import (
	"context"
	"os"
	"time"

	"github.com/plimsoll-dev/plimsoll/agent/loop"
	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// summaryPatience is how long a loop waits for a summary, all attempts included.
const summaryPatience = 5 * time.Minute

// A loopModel is a model that writes a loop's summaries.
type loopModel struct {
	target
	client *client.Client
}

// Complete implements loop.Model.
func (m loopModel) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	r.Model = m.model
	if m.maxOutput > 0 {
		r.MaxOutput = min(r.MaxOutput, m.maxOutput)
	}
	return m.client.Complete(ctx, r)
}

// loopModels makes the models that a loop may name.
type loopModels struct{ settings config.Settings }

// of makes one. What is wrong with its name, its address or its key is said at once.
func (l loopModels) of(name string) (loop.Model, error) {
	t, err := targetNamed(l.settings, "loop: --summary-model", name)
	if err != nil {
		return nil, err
	}
	if e := withoutKey(t.provider); e != nil {
		return nil, usage(e, keyHint(e))
	}
	c, err := client.New(t.provider, client.Options{Total: summaryPatience, UserAgent: "plimsoll/" + version()})
	if err != nil {
		return nil, fail(err, settingsPage)
	}
	return loopModel{t, c}, nil
}

// withoutKey says that a provider has a key in none of its places, before a loop has worked for
// hours to find out; nil: it has one, wants none, or a program prints it.
func withoutKey(p client.Provider) *client.NoKeyError {
	e := &client.NoKeyError{Provider: p.Name}
	for _, c := range p.Credentials {
		if c.Env == "" {
			return nil
		}
		e.Env = append(e.Env, c.Env)
	}
	if p.KeyOptional || len(e.Env) == 0 || keyIn(p, os.Getenv) != "" {
		return nil
	}
	return e
}

// price returns what a call costs by list prices.
func (l loopModels) price(name string, u llm.Usage) catalog.Money {
	c, err := catalog.Load()
	if err != nil {
		return catalog.Money{}
	}
	_, model, _ := client.Split(name)
	m, ok := c.With(l.settings.Models...).Lookup(model)
	if !ok {
		return catalog.Money{}
	}
	prices, ok := m.PricesAt(u.Prompt())
	if !ok {
		return catalog.Money{}
	}
	if pico, ok := prices.Cost(u); ok {
		return catalog.Dollars(pico)
	}
	return catalog.Money{}
}
