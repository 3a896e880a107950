package builtin

// Limits bound the answers. What is 0 is as [DefaultLimits] have it.
type Limits struct {
	// Answer is the bytes of an answer at most.
	Answer int
	// Line is the characters of a line at most; what is longer is clipped.
	Line int
	// Extract is the bytes of an answer of [policy.ToolOutput] at most.
	Extract int
	// Question is the tokens of a question to the Model at most, without the answer: the
	// window of that model, less its buffer and its output reserve.
	Question int
	// Chunks is how many questions about the parts of an output are worth while before it
	// is searched instead.
	Chunks int
}

// DefaultLimits returns the limits that hold where none are stated.
func DefaultLimits() Limits {
	return Limits{
		Answer:   64 << 10,
		Line:     1000,
		Extract:  12_288, // toolResponseMaxBytes of the source document
		Question: 32_000,
		Chunks:   1, // maxChunks of the source document
	}
}

// LimitsFor returns the limits for a conversation with room for so many tokens, of which an
// answer takes about an eighth: the default ones from 131,072 on, less below. The same room
// is what a question to the Model may take; where that is another one, its own is.
func LimitsFor(room int) Limits {
	const bytesPerToken, share = 4, 8
	return Limits{Answer: min(room*bytesPerToken/share, DefaultLimits().Answer), Question: room}.stated()
}

// leastAnswer is the bytes in which any answer has room to say something.
const leastAnswer = 1 << 10

// stated returns the limits with a value in every field, and none that leaves no room.
func (l Limits) stated() Limits {
	d := DefaultLimits()
	for _, f := range []struct{ got, def *int }{
		{&l.Answer, &d.Answer}, {&l.Line, &d.Line}, {&l.Extract, &d.Extract}, {&l.Question, &d.Question}, {&l.Chunks, &d.Chunks},
	} {
		if *f.got <= 0 {
			*f.got = *f.def
		}
	}
	l.Answer = max(l.Answer, leastAnswer)
	l.Extract = min(max(l.Extract, leastAnswer), l.Answer)
	l.Line = min(l.Line, l.Answer/4) // so that one has room, and what is around a match, too
	return l
}
