package inspect

// A Talk is the conversation of one segment, message by message, for a page to show.
type Talk struct {
	Segment int
	Said    []Said
	Gone    []int // messages of the segment before that the cut at the beginning of this one took out, from 1
	New     []int // messages of this segment that came in their place, from 1
}

// A Said is one message.
type Said struct {
	Message int // in the segment, from 1
	Origin  string
	Line    int
	Time    int64
	Step    int // the first one of the segment that was sent it; 0: none was
	Tokens  int
	Parts   []SaidPart
}

// A SaidPart is one piece of a message.
type SaidPart struct {
	Kind  string // as of a [Part]
	Name  string
	Error bool
	Text  string // whole
}
