package verify_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/replay/verify"
)

// Some providers use the same ids in every round.
func TestReusedIDs(t *testing.T) {
	turns := []turn{
		human("a"), calls("c0"), result("c0", "first\noutput"), human("b"), calls("c0"), result("c0", "second\noutput"), human("c"),
	}
	s := store{}
	archived := s.put(archive(chat, turns, 1, 4, nil))
	own := s.put("second\noutput")
	edited := []turn{human("[ref=" + archived + "]"), turns[3], turns[4], result("c0", "[ref="+own+"]"), turns[6]}
	f := check(t, chat, body(chat, turns...), body(chat, edited...), verify.Options{Load: s.load})
	want(t, f)
	if f.Covered.Own != 1 || f.Covered.Named != 3 {
		t.Fatalf("covered: got %+v, want one own and three named", f.Covered)
	}
	t.Run("the same call twice", func(t *testing.T) {
		turns := append(append([]turn{}, turns[:3]...), turns[4:]...)
		edited := []turn{human("[ref=" + archived + "]"), turns[3], result("c0", "[ref="+own+"]"), turns[5]}
		want(t, check(t, chat, body(chat, turns...), body(chat, edited...), verify.Options{Load: s.load}))
	})
}

// One Checker may be asked about other bodies, and with other knowledge.
func TestCheckerTwice(t *testing.T) {
	s := store{}
	turns := talk()
	cover := []verify.Cover{{Ref: s.put(archive(anthropic, turns, 1, 5, nil)), From: 1, To: 5}}
	raw, edited := body(anthropic, turns...), body(anthropic, append([]turn{human("Summary.")}, turns[4:]...)...)
	c, err := verify.NewChecker(anthropic)
	if err != nil {
		t.Fatal(err)
	}
	compare := func(raw, edited []byte, o verify.Options) verify.Findings {
		t.Helper()
		o.Load, o.Notes = s.load, []string{"Summary."}
		f, err := c.Compare(raw, edited, o)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	want(t, compare(raw, edited, verify.Options{}), "uncovered: where", "uncovered: c1", "uncovered: c1", "uncovered: bow")
	want(t, compare(raw, edited, verify.Options{Covering: cover}))
	want(t, compare(raw, raw, verify.Options{}))
	turns[9] = human("thankz") // as long as before
	other := body(anthropic, turns...)
	want(t, compare(raw, other, verify.Options{}), "uncovered: thanks", "invented: thankz")
	want(t, compare(other, other, verify.Options{}))
	want(t, compare(other, raw, verify.Options{}), "uncovered: thankz", "invented: thanks")
}

// What is lost takes no entry that another part needs.
func TestLostTakesNothing(t *testing.T) {
	raw := []byte(`{"messages":[{"role":"user","content":"a","tag":"zzz"},{"role":"user","content":"zzz"},{"role":"user","content":"b"}]}`)
	turns := []turn{human("a"), human("zzz")}
	s := store{}
	ref := s.put(archive(anthropic, turns, 1, 3, nil))
	edited := []byte(`{"messages":[{"role":"user","content":"[ref=` + ref + `]"},{"role":"user","content":"b"}]}`)
	f := check(t, anthropic, raw, edited, verify.Options{Load: s.load})
	want(t, f, "uncovered: opaque")
	if f.Covered.Named != 2 {
		t.Fatalf("covered: got %+v, want both texts", f.Covered)
	}
}
