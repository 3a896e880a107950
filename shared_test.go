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

// TestMarksStandBesideTheMessages: a request has the very list of its Send, whatever is marked of it. Two requests of one list with other marks are written
// at once, each with its own; the list stays as it was.
func TestMarksStandBesideTheMessages(t *testing.T) {
	s := open(t, plimsoll.Options{
		Store: &store.Memory{}, Policy: preset(t, "balanced"), Targets: []budget.Target{{Model: "claude-sonnet-5", Window: budget.Window{Capacity: 100_000, OutputReserve: 500}}},
	})
	for n := range 10 {
		add(t, s, human(fmt.Sprintf("Look at hull %d.", n)), reply("It is sound."))
	}
	add(t, s, human("And now?"))
	send := prepare(t, s)
	before, want := fmt.Sprintf("%#v", send.Messages()), send.Request().Messages
	codec, _ := codecs.For("anthropic")
	var writers sync.WaitGroup
	for at := range 2 * 10 {
		writers.Go(func() {
			r := send.Request()
			if at > 0 {
				r.Marks = llm.Marks{{On: llm.OnMessage, At: at, Mark: llm.MarkLong}}
			}
			body, err := codec.EncodeRequest(r)
			if err != nil || &r.Messages[0] != &want[0] {
				t.Errorf("request %d: %v, or another list", at, err)
				return
			}
			back, err := codec.DecodeRequest(body)
			if err != nil {
				t.Error(err)
				return
			}
			for i, m := range back.Messages {
				marked := bytes.Contains(m.Envelope.Raw, []byte(`"cache_control"`))
				if own := r.Marks.On(llm.OnMessage, i) != llm.NoMark; marked != own {
					t.Errorf("request %d, message %d: marked is %v, want %v", at, i, marked, own)
				}
			}
		})
	}
	writers.Wait()
	if len(send.Marks) == 0 || fmt.Sprintf("%#v", send.Messages()) != before {
		t.Errorf("marks %v, or the messages have changed", send.Marks)
	}
}
