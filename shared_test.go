package plimsoll_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// TestRequestsShareTheirMessages: a request is written on one goroutine while the session goes on on another one, and is the same however much later it
// is written (laws 4 and 5). The race detector has its word, too.
func TestRequestsShareTheirMessages(t *testing.T) {
	for _, model := range []string{"gpt-5", "claude-sonnet-5", "gemini-2.5-pro"} {
		codec, _ := codecs.For(map[string]llm.Dialect{"gpt-5": "openai-chat", "claude-sonnet-5": "anthropic", "gemini-2.5-pro": "gemini"}[model])
		s := open(t, plimsoll.Options{
			ID: "s", Store: &store.Memory{}, Policy: preset(t, "balanced"), Targets: []budget.Target{{Model: model, Window: budget.Window{Capacity: 8_000, OutputReserve: 500}}},
		})
		var writers sync.WaitGroup
		var edited int
		for n := range 40 {
			add(t, s, human(fmt.Sprintf("%d. %s", n, bytes.Repeat([]byte("Look at the hull. "), 20))))
			send := prepare(t, s)
			first, err := codec.EncodeRequest(send.Request())
			if err != nil {
				t.Fatal(err)
			}
			if send.Edited {
				edited++
			}
			writers.Go(func() {
				for range 3 {
					if again, err := codec.EncodeRequest(send.Request()); err != nil || !bytes.Equal(again, first) {
						t.Errorf("%s, request %d: %v, other bytes", model, n, err)
						return
					}
				}
			})
			add(t, s, reply(fmt.Sprintf("%d. It is sound. %s", n, bytes.Repeat([]byte("Quite. "), 40))))
		}
		writers.Wait()
		if edited == 0 || edited == 40 {
			t.Errorf("%s: %d of 40 requests with edits: want some of both", model, edited)
		}
	}
}
