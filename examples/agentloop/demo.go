package main

import (
	_ "embed"
	"log"
	"net/http/httptest"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
)

//go:embed demo.txt
var script string

// demo makes two scripted models those to ask where there are none, with windows that are soon full. Where no URL is stated either they
// run in here, until the program ends.
func (a *agent) demo() {
	if len(a.models) > 0 {
		return
	}
	a.models = []budget.Target{
		{Provider: "openai-compatible", Model: "gpt-5-mini", Window: budget.Window{Capacity: 8_000, Buffer: 500, OutputReserve: 1_000}},
		{Provider: "anthropic", Model: "claude-haiku-4-5", Window: budget.Window{Capacity: 22_000, Buffer: 1_000, OutputReserve: 1_000}},
	}
	if a.base == "" {
		a.base = httptest.NewServer(scriptmodel.New(must(scriptmodel.Parse(script)), scriptmodel.Options{})).URL + "/v1"
	}
}

// must ends the program with an error.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
