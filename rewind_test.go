package plimsoll_test

import (
	"reflect"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// TestRewound: a session that was rewound sends what a fork from the same message sends, and
// what was paid stays on its bill.
func TestRewound(t *testing.T) {
	st := &store.Memory{}
	o := plimsoll.Options{ID: "work", Store: st}
	s := open(t, o)
	add(t, s, human("One."))
	for _, text := range []string{"Two.", "Four."} {
		if _, err := s.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Observe(t.Context(), llm.Usage{Input: 100, Output: 10}); err != nil {
			t.Fatal(err)
		}
		add(t, s, reply(text), human("And then?"))
	}
	fork, err := s.Fork(t.Context(), "fork", 3)
	if err != nil {
		t.Fatal(err)
	}
	want, err := fork.Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range st.Records(t.Context(), "work", 0) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	line, err := journal.Encode(journal.Record{Kind: journal.KindFork, Fork: journal.Fork{Parent: "work", At: 3}})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Append(t.Context(), "work", n, [][]byte{line}); err != nil {
		t.Fatal(err)
	}
	again := open(t, o)
	got, err := again.Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Messages(), want.Messages()) || len(got.Items) != 3 {
		t.Errorf("it sends\n%+v\nwant\n%+v", got.Messages(), want.Messages())
	}
	if b := again.Bill(); b.Calls != 2 || b.Usage.Input != 200 {
		t.Errorf("the bill has %d calls of %d tokens, want those before the rewind", b.Calls, b.Usage.Input)
	}
	if b := fork.Bill(); b.Calls != 0 {
		t.Errorf("the fork's bill has %d calls", b.Calls)
	}
}
