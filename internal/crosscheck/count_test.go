package crosscheck

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A counter counts tokens with a library that the engine does not use, and remembers what it has counted.
type counter struct {
	o200k, cl100k tokenizer.Codec
	mu            sync.Mutex
	known         map[string]int
}

func newCounter() *counter {
	return &counter{o200k: codec.NewO200kBase(), cl100k: codec.NewCl100kBase(), known: map[string]int{}}
}

// text returns the tokens of a text by one of the two vocabularies. Bytes that are no UTF-8 are left out, as the count is to be no more
// than what anybody counts.
func (c *counter) text(old bool, s string) int {
	if s == "" {
		return 0
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "")
	}
	key := "o" + s
	if old {
		key = "c" + s
	}
	c.mu.Lock()
	n, ok := c.known[key]
	c.mu.Unlock()
	if ok {
		return n
	}
	enc := c.o200k
	if old {
		enc = c.cl100k
	}
	n, err := enc.Count(s)
	if err != nil {
		n = 0
	}
	c.mu.Lock()
	if len(c.known) > 40_000 {
		clear(c.known)
	}
	c.known[key] = n
	c.mu.Unlock()
	return n
}

// message returns the tokens of what a message says: no marks between messages, no thinking, no media.
func (c *counter) message(old bool, m llm.Message) int {
	n := 0
	for _, p := range m.Parts {
		n += c.part(old, p)
	}
	return n
}

func (c *counter) part(old bool, p llm.Part) int {
	switch p := p.(type) {
	case llm.Text:
		return c.text(old, p.Text)
	case llm.Stub:
		return c.text(old, p.Text)
	case llm.ToolCall:
		return c.text(old, p.Name) + c.text(old, p.Args)
	case llm.ToolResult:
		n := 0
		for _, q := range p.Content {
			n += c.part(old, q)
		}
		return n
	}
	return 0
}

// request returns the tokens of what a request says. Of a tool's arguments only the description counts, as providers write the schema in
// a shorter form.
func (c *counter) request(old bool, r llm.Request) int {
	n := 0
	for _, s := range r.Sections {
		n += c.text(old, s.Text)
	}
	for _, t := range r.Tools {
		n += c.text(old, t.Name) + c.text(old, t.Description)
	}
	for _, m := range r.Messages {
		n += c.message(old, m)
	}
	return n
}
