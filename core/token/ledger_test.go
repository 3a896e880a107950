package token_test

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/token"
)

func size(n int) token.Size {
	return token.Size{Tokens: n, MediaTokens: n % 7, Messages: 1, Plain: n % 2, Calls: n % 3, Rounds: n % 2, Results: n % 4, Media: n % 2, Bytes: 5 * n}
}

// dumb is a ledger that remembers everything and adds up when asked.
type dumb struct {
	component []token.Component
	size      []token.Size
	there     []bool
}

func (d *dumb) sum(c token.Component) token.Size {
	var sum token.Size
	for i, there := range d.there {
		if there && d.component[i] == c {
			sum = sum.Add(d.size[i])
		}
	}
	return sum
}

func (d *dumb) len() int {
	n := 0
	for _, there := range d.there {
		if there {
			n++
		}
	}
	return n
}

// The ledger keeps what a twin finds by adding up everything, and a clone goes
// its own way.
func TestLedgerEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l token.Ledger
		var d dumb
		component := rapid.Custom(func(t *rapid.T) token.Component {
			return token.Component(rapid.IntRange(0, token.NumComponents-1).Draw(t, "component"))
		})
		sizes := rapid.Map(rapid.IntRange(0, 100_000), size)
		slot := func(t *rapid.T) int { return rapid.IntRange(-1, len(d.there)).Draw(t, "slot") }
		used := func(i int) bool { return i >= 0 && i < len(d.there) && d.there[i] }
		agree := func(t *rapid.T, i int, err error) bool {
			if used(i) != (err == nil) {
				t.Fatalf("slot %d of %d, in use: %v, error: %v", i, len(d.there), used(i), err)
			}
			return err == nil
		}
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				c, s := component.Draw(t, "c"), sizes.Draw(t, "s")
				if got := l.Append(c, s); got != len(d.there) {
					t.Fatalf("slot %d, want %d", got, len(d.there))
				}
				d.component, d.size, d.there = append(d.component, c), append(d.size, s), append(d.there, true)
			},
			"replace": func(t *rapid.T) {
				i, s := slot(t), sizes.Draw(t, "s")
				if agree(t, i, l.Replace(i, s)) {
					d.size[i] = s
				}
			},
			"move": func(t *rapid.T) {
				i, c := slot(t), component.Draw(t, "c")
				if agree(t, i, l.Move(i, c)) {
					d.component[i] = c
				}
			},
			"remove": func(t *rapid.T) {
				i := slot(t)
				if agree(t, i, l.Remove(i)) {
					d.there[i] = false
				}
			},
			"restore": func(t *rapid.T) {
				i, c, s := slot(t), component.Draw(t, "c"), sizes.Draw(t, "s")
				err := l.Restore(i, c, s)
				free := i >= 0 && i < len(d.there) && !d.there[i]
				if free != (err == nil) {
					t.Fatalf("restore slot %d, free: %v, error: %v", i, free, err)
				}
				if free {
					d.component[i], d.size[i], d.there[i] = c, s, true
				}
			},
			"cut": func(t *rapid.T) {
				from := rapid.IntRange(0, len(d.there)).Draw(t, "from")
				to := rapid.IntRange(from, len(d.there)).Draw(t, "to")
				before := l.Total()
				cut, err := l.Cut(from, to)
				if err != nil || l.Total() != before.Sub(cut) {
					t.Fatalf("cut [%d, %d): %v, %+v", from, to, err, cut)
				}
				for i := from; i < to; i++ {
					d.there[i] = false
				}
			},
			"clone": func(t *rapid.T) {
				total, twin := l.Total(), l.Clone()
				twin.Append(token.Notes, size(1))
				_, _ = twin.Cut(0, twin.Slots())
				if l.Total() != total || twin.Total() != (token.Size{}) || twin.Len() != 0 {
					t.Fatalf("a change of the clone changed the ledger")
				}
			},
			"": func(t *rapid.T) {
				var total token.Size
				for i := range token.NumComponents {
					c := token.Component(i)
					want := d.sum(c)
					total = total.Add(want)
					if got := l.Sum(c); got != want {
						t.Fatalf("%v = %+v, want %+v", c, got, want)
					}
				}
				if l.Total() != total || l.Len() != d.len() || l.Slots() != len(d.there) {
					t.Fatalf("total %+v of %d in %d slots, want %+v of %d in %d", l.Total(), l.Len(), l.Slots(), total, d.len(), len(d.there))
				}
			},
		})
	})
}

func TestLedgerFaults(t *testing.T) {
	var l token.Ledger
	l.Append(token.System, size(10))
	if _, err := l.Cut(0, 2); err == nil {
		t.Error("cut beyond the end is no error")
	}
	if _, err := l.Cut(1, 0); err == nil {
		t.Error("cut backwards is no error")
	}
	err := l.Replace(3, size(1))
	var fault *token.SlotError
	if !errors.As(err, &fault) || fault.Slot != 3 || fault.Len != 1 {
		t.Errorf("replace in a slot that is not there: %v", err)
	}
	if _, s, ok := l.At(0); !ok || s != size(10) {
		t.Errorf("At(0) = %+v, %v", s, ok)
	}
	if _, _, ok := l.At(1); ok {
		t.Error("At(1) finds something")
	}
	if got := l.Append(token.Component(99), size(5)); got != 1 || l.Sum(token.History) != size(5) || l.Sum(token.Component(99)) != (token.Size{}) {
		t.Errorf("an unknown component is booked under history: slot %d, %+v", got, l.Sum(token.History))
	}
}

// A change costs what changed, however long the ledger is.
func BenchmarkLedger(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		var full token.Ledger
		for i := range n {
			full.Append(token.Component(i%token.NumComponents), size(i%5000))
		}
		b.Run(fmt.Sprintf("append/%d", n), func(b *testing.B) {
			l := full.Clone()
			b.ReportAllocs()
			for b.Loop() {
				l.Append(token.History, size(7))
			}
		})
		b.Run(fmt.Sprintf("replace/%d", n), func(b *testing.B) {
			l := full.Clone()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := l.Replace(i*7919%n, size(i%100)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("total/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				full.Total()
			}
		})
		b.Run(fmt.Sprintf("cut32/%d", n), func(b *testing.B) {
			l := full.Clone()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				from := i * 32 % (n - 32)
				if _, err := l.Cut(from, from+32); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
