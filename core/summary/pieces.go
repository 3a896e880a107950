package summary

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Pieces writes messages as a record to be read, in pieces of at most so many tokens by
// count, each of whole messages where they have room. A message that has none is divided at
// ends of lines. Thinking is left out, and of what is no text a line stands there. The same
// messages give the same pieces. Where nothing is said, or a piece has no room for anything,
// there are none.
func Pieces(msgs []llm.Message, tokens int, count func(string) int) []string {
	if tokens < leastPiece {
		return nil
	}
	p := pieces{room: tokens, count: count}
	for _, m := range msgs {
		p.message(m)
	}
	return p.end()
}

// leastPiece is the tokens below which a piece says nothing beside its heads.
const leastPiece = 64

// pieces are written one after the other.
type pieces struct {
	room  int
	count func(string) int

	done []string
	now  strings.Builder
	used int // tokens of now, at most: those of its texts by themselves
}

// message writes one, in as many pieces as it takes.
func (p *pieces) message(m llm.Message) {
	text := recordOf(m)
	if text == "" {
		return
	}
	head := fmt.Sprintf("[message %d, %s]\n", m.ID, speaker(m))
	for {
		n := p.size(head + text)
		if p.used+n <= p.room {
			p.now.WriteString(head + text + "\n")
			p.used += n + 1
			return
		}
		if p.used > 0 && n <= p.room {
			p.cut()
			continue
		}
		first, rest := p.divided(head, text)
		if first == "" { // not even some of it, beside what is there already
			if p.used == 0 {
				return
			}
			p.cut()
			continue
		}
		p.now.WriteString(head + first + "\n")
		p.cut()
		head, text = fmt.Sprintf("[message %d, %s, goes on]\n", m.ID, speaker(m)), rest
		if text == "" {
			return
		}
	}
}

// size returns the tokens of a text; one that cannot have room is not measured.
func (p *pieces) size(text string) int {
	if len(text) > maxBytesPerToken*p.room {
		return p.room + 1
	}
	return p.count(text)
}

// divided returns as much of a text as has room, and the rest.
func (p *pieces) divided(head, text string) (first, rest string) {
	room := p.room - p.used
	if room < leastPiece {
		return "", text
	}
	first = fit(min(len(text), maxBytesPerToken*room), room, func(n int) string { return clip(text, n) }, func(s string) int { return p.count(head + s) })
	if i := strings.LastIndexByte(first, '\n') + 1; i > len(first)*3/4 && len(first) < len(text) {
		first = first[:i]
	}
	return first, text[len(first):]
}

// cut ends a piece.
func (p *pieces) cut() {
	p.done = append(p.done, p.now.String())
	p.now.Reset()
	p.used = 0
}

func (p *pieces) end() []string {
	if p.now.Len() > 0 {
		p.cut()
	}
	return p.done
}

// speaker says whose words a message has.
func speaker(m llm.Message) string {
	switch m.Origin {
	case llm.Human:
		return "a person"
	case llm.Model:
		return "the assistant"
	case llm.ToolRun:
		return "output"
	}
	return "a note"
}

// recordOf writes what a message says.
func recordOf(m llm.Message) string {
	var lines []string
	for _, part := range m.Parts {
		if r, ok := part.(llm.ToolResult); ok {
			if r.IsError {
				lines = append(lines, "[failed]")
			}
			for _, c := range r.Content {
				lines = append(lines, recordOfPart(c))
			}
			continue
		}
		lines = append(lines, recordOfPart(part))
	}
	var b strings.Builder
	for _, l := range lines {
		if l != "" {
			b.WriteString(l + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func recordOfPart(p llm.Part) string {
	switch p := p.(type) {
	case llm.Text:
		return p.Text
	case llm.Stub:
		return p.Text
	case llm.ToolCall:
		return fmt.Sprintf("[calls %s %s]", p.Name, p.Args)
	case llm.Media:
		return fmt.Sprintf("[%s, %d bytes]", orSome(p.Type), p.Size)
	case llm.Opaque:
		return fmt.Sprintf("[%s]", orSome(p.Kind))
	}
	return "" // thinking
}

func orSome(kind string) string {
	if kind == "" {
		return "something that is no text"
	}
	return kind
}
