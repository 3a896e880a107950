package cache

import "github.com/plimsoll-dev/plimsoll/core/llm"

// A Prompt lays out one request after the other of a conversation as blocks. What a
// block holds is counted one by one and what a request takes as a whole is known apart,
// often from a report: the blocks share it by their counts. The place of a block does
// not move while nothing before it changes, though each total is a new estimate. The
// zero Prompt is empty.
type Prompt struct {
	blocks []Block
	counts []int // of all blocks up to each
}

// Len returns how many blocks there are.
func (p *Prompt) Len() int { return len(p.blocks) }

// Cut leaves the first n blocks.
func (p *Prompt) Cut(n int) { p.blocks, p.counts = p.blocks[:n], p.counts[:n] }

// Add appends a block of so many counted tokens. name tells it from every other block
// that may stand there.
func (p *Prompt) Add(name llm.Digest, counted, positions int) {
	if n := len(p.blocks); n > 0 {
		name = llm.Chain(p.blocks[n-1].Prefix, name)
		counted += p.counts[n-1]
	}
	p.blocks, p.counts = append(p.blocks, Block{Prefix: name, Positions: positions}), append(p.counts, counted)
}

// Request returns the request that the blocks make, which takes total tokens and of
// which the first kept blocks are those of the request before. It is marked where a
// careful client puts its marks: behind what stands before all messages, at the end, and
// where the request before ended as far as this one begins like it. The blocks are valid
// until the next call.
func (p *Prompt) Request(kept, total int, mark Mark) Request {
	if len(p.blocks) == 0 {
		return Request{}
	}
	p.place(kept, total)
	for i := range p.blocks {
		p.blocks[i].Mark = NoMark
	}
	p.blocks[0].Mark = mark
	p.blocks[max(kept-1, 0)].Mark = mark
	p.blocks[len(p.blocks)-1].Mark = mark
	return Request{Blocks: p.blocks}
}

// Tokens returns the tokens of the last request up to the end of its first n blocks.
func (p *Prompt) Tokens(n int) int {
	if n <= 0 || len(p.blocks) == 0 {
		return 0
	}
	return p.blocks[min(n, len(p.blocks))-1].Tokens
}

// place gives the blocks from number kept on their ends, so that the last one is at
// total. Where what is kept is itself more than that, all ends move.
func (p *Prompt) place(kept, total int) {
	start, from, before := 0, 0, 0
	if kept > 0 && p.blocks[kept-1].Tokens <= total {
		start, from, before = kept, p.blocks[kept-1].Tokens, p.counts[kept-1]
	}
	last := len(p.blocks) - 1
	counted := p.counts[last] - before
	for i := start; i <= last; i++ {
		p.blocks[i].Tokens = from
		if counted > 0 {
			p.blocks[i].Tokens += int(int64(total-from) * int64(p.counts[i]-before) / int64(counted))
		}
	}
	if last > 0 {
		total = max(total, p.blocks[last-1].Tokens)
	}
	p.blocks[last].Tokens = total
}
