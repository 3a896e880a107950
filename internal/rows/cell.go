package rows

import (
	"fmt"
	"strconv"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
)

// A Kind says what a value is, and so how it is written: see the package.
type Kind uint8

// The kinds.
const (
	Text    Kind = iota // as the session has it: not made safe
	Number              // Number
	Money               // Money, which is known
	Error               // Number in parts per million
	Percent             // Number of Whole
	Tenths              // Number of Whole
	Ratio               // Number of Whole
	Span                // Number of seconds
	Moment              // Number of Unix milliseconds
	Missing             // nobody knows it, or there is none
)

// A Look is what a value is to the reader.
type Look uint8

// The looks.
const (
	Plain Look = iota
	Good       // what should be 0 is
	Bad        // what should be 0 is not, or costs more than it saves
)

// A Cell is one value.
type Cell struct {
	Kind   Kind
	Text   string
	Number int
	Whole  int // above 0 where the kind has one
	Money  catalog.Money
	Look   Look
}

// String writes the value; nothing where it is missing.
func (c Cell) String() string {
	switch c.Kind {
	case Number:
		return edit.Thousands(c.Number)
	case Money:
		return c.Money.String()
	case Error:
		return signedPPM(c.Number)
	case Percent:
		return strconv.Itoa(int((int64(c.Number)*100+int64(c.Whole)/2)/int64(c.Whole))) + "%"
	case Tenths:
		return fmt.Sprintf("%.1f", 100*float64(c.Number)/float64(c.Whole))
	case Ratio:
		return fmt.Sprintf("%.2f", float64(c.Number)/float64(c.Whole))
	case Span:
		return (time.Duration(c.Number) * time.Second).String()
	case Moment:
		return time.UnixMilli(int64(c.Number)).UTC().Format("2006-01-02 15:04")
	case Missing:
		return ""
	}
	return c.Text
}

// signedPPM writes parts per million as a percentage with its sign.
func signedPPM(n int) string {
	sign := "+"
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%02d%%", sign, n/10_000, n%10_000/100)
}

func text(s string) Cell { return Cell{Kind: Text, Text: s} }

func number(n int) Cell { return Cell{Kind: Number, Number: n} }

// some is a number of which 0 means that there is none.
func some(n int) Cell { return of(Number, n) }

// of is a value of a kind, of which 0 means that there is none.
func of(kind Kind, n int) Cell {
	if n == 0 {
		return Cell{Kind: Missing}
	}
	return Cell{Kind: kind, Number: n}
}

// fault is a number that should be 0.
func fault(n int) Cell { return Cell{Kind: Number, Number: n, Look: zero(n)} }

func zero(n int) Look {
	if n > 0 {
		return Bad
	}
	return Good
}

func money(m catalog.Money) Cell {
	if !m.Known {
		return Cell{Kind: Missing}
	}
	return Cell{Kind: Money, Money: m}
}

func off(ppm int) Cell { return Cell{Kind: Error, Number: ppm} }

// part is part of whole, and missing where there is no whole.
func part(kind Kind, n, whole int) Cell {
	if whole == 0 {
		return Cell{Kind: Missing}
	}
	return Cell{Kind: kind, Number: n, Whole: whole}
}
