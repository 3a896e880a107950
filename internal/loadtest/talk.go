package main

import (
	"fmt"
	"strconv"
	"strings"
)

// growth is how many bytes a conversation grows by with each request, about.
const growth = 150

// A history is what all conversations of one size begin with. It is made once: what a
// request costs here is not what is measured.
type history struct {
	size     int    // of the body of a request, on average, in bytes
	messages string // from the first bracket on
	life     int    // requests that a conversation has
}

// newHistory returns the beginning of conversations whose bodies are of a size on average.
func newHistory(size int) history {
	h := history{size: size, life: max(48, size*2/5/growth)}
	var b strings.Builder
	b.WriteString(`"messages":[{"role":"system","content":"You are a careful engineer."}`)
	words := uint32(size)
	for n, most := 0, size-h.life*growth/2; b.Len() < most; n++ {
		role := "user"
		if n%2 == 1 {
			role = "assistant"
		}
		fmt.Fprintf(&b, `,{"role":%q,"content":"`, role)
		prose(&b, &words, min(1500, most-b.Len()))
		b.WriteString(`"}`)
	}
	h.messages = b.String()
	return h
}

var vocabulary = strings.Fields(`the a of to and file test error line in is not function returns value when request body reads writes
	server client index table build module cache window token message result second first never always 17 404 0x1f main.go store.go ./cmd it we should`)

// prose writes n bytes of words that look like text, the same for the same seed.
func prose(b *strings.Builder, seed *uint32, n int) {
	for end := b.Len() + n; b.Len() < end; b.WriteByte(' ') {
		*seed = *seed*1664525 + 1013904223
		b.WriteString(vocabulary[int(*seed>>16)%len(vocabulary)])
	}
}

// A talk is one conversation as its client has it.
type talk struct {
	history history
	id      string
	asked   int    // requests so far
	tail    []byte // the messages behind the history
	next    func() string
}

// newTalk returns a conversation that has not begun. next names it, and those that follow
// when it has ended.
func newTalk(h history, next func() string) *talk { return &talk{history: h, next: next} }

// ask returns the next request's body, in pieces, and whether it is the first of a
// conversation. The pieces are good until the next call.
func (t *talk) ask(stream bool) (pieces [][]byte, first bool) {
	if t.id == "" || t.asked == t.history.life {
		t.id, t.asked, t.tail = t.next(), 0, t.tail[:0]
	}
	if t.asked > 0 {
		t.tail = append(t.tail, `,{"role":"assistant","content":"Done, see above."}`...)
	}
	t.tail = append(t.tail, `,{"role":"user","content":"And now question `...)
	t.tail = strconv.AppendInt(t.tail, int64(t.asked), 10)
	t.tail = append(t.tail, `: what does the next file of this folder say?"}`...)
	t.asked++
	head := `{"model":"` + model + `",`
	if stream {
		head += `"stream":true,"stream_options":{"include_usage":true},`
	}
	return [][]byte{[]byte(head), []byte(t.history.messages), t.tail, []byte("]}")}, t.asked == 1
}
