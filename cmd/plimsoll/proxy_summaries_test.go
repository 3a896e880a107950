package main

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

// TestCompactionModel: the model that the settings name for summaries is asked with its
// provider's key; where they name none, no model is.
func TestCompactionModel(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "k")
	known, err := knownSettings()
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	of := func(text string) (plimsoll.Summariser, error) {
		s, err := config.ParseSettings("s.yaml", []byte(text), known)
		if err != nil {
			t.Fatal(err)
		}
		return summariserOf(s, c)
	}
	t.Run("R001-17_named_in_the_settings", func(t *testing.T) {
		got, err := of("compaction: {model: openai/gpt-5-mini}\nproviders: {openai: {models: {gpt-5-mini: {contextWindow: 64k}}}}")
		m, ok := got.(plimsoll.ModelSummariser)
		if err != nil || !ok || m.Target.Name() != "openai/gpt-5-mini" || m.Target.Window.Capacity != 64_000 || m.Model == nil {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("R001-17_none", func(t *testing.T) {
		if got, err := of("compaction: {model: null}"); got != nil || err != nil {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("R001-17_of_no_provider", func(t *testing.T) {
		if got, err := of("compaction: {model: nobody/x}"); err == nil {
			t.Errorf("got %+v", got)
		}
	})
}
