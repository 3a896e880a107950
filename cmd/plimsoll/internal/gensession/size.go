package main

import "github.com/plimsoll-dev/plimsoll/core/token/bpe"

// What the invented provider counts. The session's texts are counted exactly by a
// published vocabulary and taken times a factor, as if another vocabulary were
// used; framing costs what it was measured to cost for that family of models
// (core/catalog/families.csv). The figures are plausible, not real.
const (
	overhead    = 17_450 // the client's system prompt and tools, which are not in the file
	factor      = 1_180  // permille
	perMessage  = 4
	perReply    = 8
	perUse      = 45
	firstResult = 15 // of a reply's results
	moreResult  = 40
)

// A sizer counts texts as the invented provider does.
type sizer struct{ enc *bpe.Encoding }

func newSizer() (sizer, error) {
	enc, err := bpe.O200kBase()
	return sizer{enc}, err
}

func (s sizer) text(t string) int { return s.enc.Count(t) * factor / 1000 }

func (s sizer) message(t string) int { return s.text(t) + perMessage }

func (s sizer) reply(t string) int { return s.text(t) + perReply }

func (s sizer) use(input string) int { return s.text(input) + perUse }

func (s sizer) result(t string, first bool) int {
	if first {
		return s.text(t) + firstResult
	}
	return s.text(t) + moreResult
}
