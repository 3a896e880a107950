package crosscheck

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/engine"
)

// Marks of answers that say nothing, by which a view is found out that shows one.
const (
	markShort = "zqshort"
	markOpen  = "zqopen"
	markFound = "zqinvented"
)

// saysNothing reports whether a text shows an answer that cannot stand for anything.
func saysNothing(text string) bool {
	return strings.Contains(text, markShort) || strings.Contains(text, markOpen) || strings.Contains(text, markFound)
}

// A moody summariser answers well or badly. How depends on the question alone, so that sessions that should do the same get the same.
type moody struct{ seed uint64 }

// ByCode implements plimsoll.ByCode.
func (m moody) ByCode() {}

// Summarise implements plimsoll.Summariser.
func (m moody) Summarise(ctx context.Context, ask engine.Ask) (plimsoll.Summary, error) {
	text, err := m.write(ctx, ask)
	return plimsoll.Summary{Text: text}, err
}

func (m moody) write(ctx context.Context, ask engine.Ask) (string, error) {
	h, size := fnv.New64a(), 0
	for _, msg := range ask.Messages {
		size += len(msg.Text())
	}
	fmt.Fprint(h, m.seed, ask.Rule, ask.Span, len(ask.Messages), size, ask.Focus)
	good := "The work goes on. " + strings.Repeat(fmt.Sprintf("Step %d was done with care, its result stands in place %d. ", size%97, size%31), 4+size%9)
	switch h.Sum64() % 20 {
	case 0:
		return "", nil
	case 1:
		return " \n\t ", nil
	case 2:
		return "<summary></summary>", nil
	case 3:
		return markShort + " done.", nil
	case 4:
		return "<summary>" + markOpen + " " + good, nil
	case 5:
		return "", errors.New("the model is overloaded")
	case 6:
		return "<summary>" + markShort + "</summary>", nil
	case 7:
		return strings.Repeat(good, 60), nil // far more than anybody asked for
	case 8:
		return "<summary>" + strings.Repeat(good, 300) + "</summary>", nil
	case 9:
		s, err := plimsoll.Deterministic{}.Summarise(ctx, ask)
		return s.Text, err
	case 10:
		return "<retain>\nticket 1\nmake test\n</retain>\n<summary>" + good + "</summary>", nil
	case 11:
		return "<think>" + good + "</think><summary>" + good + "</summary>", nil
	case 13:
		return "<summary>" + good + "It is all in /srv/" + markFound + "/nowhere.go.</summary>", nil
	case 12:
		return good + "\xff\xfe " + fakeRef, nil
	}
	return "<summary>" + good + "</summary>", nil
}
