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
}

func (d *dumb) sum(c token.Component) token.Size {
	var sum token.Size
	for i, of := range d.component {
		if of == c {
			sum = sum.Add(d.size[i])
		}
	}
	return sum
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
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				c, s := component.Draw(t, "c"), sizes.Draw(t, "s")
				if got := l.Append(c, s); got != len(d.size) {
					t.Fatalf("slot %d, want %d", got, len(d.size))
				}
				d.component, d.size = append(d.component, c), append(d.size, s)
			},
			"replace": func(t *rapid.T) {
				i, s := rapid.IntRange(-1, len(d.size)).Draw(t, "slot"), sizes.Draw(t, "s")
				given := i >= 0 && i < len(d.size)
				if err := l.Replace(i, s); given != (err == nil) {
					t.Fatalf("slot %d of %d, given out: %v, error: %v", i, len(d.size), given, err)
				}
				if given {
					d.size[i] = s
				}
			},
			"clone": func(t *rapid.T) {
				total, twin := l.Total(), l.Clone()
				twin.Append(token.Notes, size(1))
				for i := range d.size {
					if err := twin.Replace(i, token.Size{}); err != nil {
						t.Fatal(err)
					}
				}
				if l.Total() != total || twin.Total() != size(1) {
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
				if l.Total() != total {
					t.Fatalf("total %+v, want %+v", l.Total(), total)
				}
			},
		})
	})
}

func TestLedgerFaults(t *testing.T) {
	var l token.Ledger
	l.Append(token.System, size(10))
	err := l.Replace(3, size(1))
	var fault *token.SlotError
	if !errors.As(err, &fault) || fault.Slot != 3 || fault.Len != 1 {
		t.Errorf("replace in a slot that is not there: %v", err)
	}
	if l.Total() != size(10) {
		t.Errorf("a fault changed the total: %+v", l.Total())
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
	}
}
