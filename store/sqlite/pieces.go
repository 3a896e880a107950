package sqlite

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// pieceBytes is how much of a content a piece holds; only the last one holds less. A content
// of no more than that is one body, which a page of it costs no more to read than a piece.
const pieceBytes = 256 << 10

// An index says what the pieces of a content are.
type index struct {
	ref    llm.Ref
	size   int64
	lines  int64 // a last one without a newline included
	pieces []mark
	breaks int64 // newlines in the pieces, while it is made
}

// A mark is what an index knows about a piece.
type mark struct {
	breaks int64 // newlines before it
	sum    int64 // the CRC-32C of its content
}

// Bytes of an index as it is kept (schema/3.sql).
const (
	markBytes = 12
	endBytes  = 8
)

// add tells an index about the next piece, which is not empty.
func (x *index) add(data []byte, sum int64) {
	x.pieces = append(x.pieces, mark{x.breaks, sum})
	x.breaks += int64(bytes.Count(data, []byte("\n")))
	x.size += int64(len(data))
	x.lines = x.breaks
	if data[len(data)-1] != '\n' {
		x.lines++
	}
}

// find returns the piece in which the newline number n is, counted from 1.
func (x *index) find(n int64) int {
	i, _ := slices.BinarySearchFunc(x.pieces, n, func(m mark, n int64) int {
		if m.breaks < n {
			return -1
		}
		return 1
	})
	return i - 1
}

// extent is the bytes of a piece.
func (x *index) extent(i int) int64 { return min(pieceBytes, x.size-int64(i)*pieceBytes) }

// indexed returns the body of a content whose pieces are kept elsewhere.
func (p *packer) indexed(x *index) body {
	out := make([]byte, 0, len(x.pieces)*markBytes+endBytes+len(x.ref))
	for _, m := range x.pieces {
		out = binary.LittleEndian.AppendUint64(out, uint64(m.breaks)) //nolint:gosec // a count
		out = binary.LittleEndian.AppendUint32(out, uint32(m.sum))    //nolint:gosec // so is a sum kept
	}
	out = binary.LittleEndian.AppendUint64(out, uint64(x.lines)) //nolint:gosec // a count
	out = append(out, x.ref...)
	return body{formPieces, x.size, p.sumOf(out, x.size), out}
}

// sumOf is the checksum of an index.
func (p *packer) sumOf(data []byte, size int64) int64 {
	return p.placed(int64(crc32.Checksum(data, p.table)), size)
}

// index returns the index of a content that is kept in pieces. An error is like that of unpack.
func (p *packer) index(b body, ref llm.Ref) (*index, error) {
	if b.size <= pieceBytes || b.size > p.mostContent {
		return nil, flaw("size", fmt.Sprintf("%d to %d", pieceBytes+1, p.mostContent), b.size)
	}
	n := int((b.size + pieceBytes - 1) / pieceBytes)
	if want := n*markBytes + endBytes + len(ref); len(b.data) != want {
		return nil, flaw("bytes of the index", want, len(b.data))
	}
	if sum := p.sumOf(b.data, b.size); sum != b.sum {
		return nil, flaw("checksum of the index", fmt.Sprintf("%08x", b.sum), fmt.Sprintf("%08x", sum))
	}
	x := &index{ref: ref, size: b.size}
	rest := b.data
	for range n {
		breaks, sum := binary.LittleEndian.Uint64(rest), binary.LittleEndian.Uint32(rest[8:])
		x.pieces = append(x.pieces, mark{int64(breaks), int64(sum)}) //nolint:gosec // a count
		rest = rest[markBytes:]
	}
	x.lines = int64(binary.LittleEndian.Uint64(rest)) //nolint:gosec // a count
	if got := llm.Ref(rest[endBytes:]); got != ref {
		return nil, flaw("ref of the content", ref, got)
	}
	return x, nil
}

// piece returns the content of a piece that an index knows, in memory that nobody needs any
// more. An error is like that of unpack.
func (p *packer) piece(into []byte, x *index, i int, b body) ([]byte, error) {
	b.size, b.sum = x.extent(i), x.pieces[i].sum
	return p.unpackInto(into, b)
}

// cut returns the index of a content that is longer than a piece, and its pieces.
func (p *packer) cut(data []byte, ref llm.Ref) (*index, []body, error) {
	if n := int64(len(data)); n > p.mostContent {
		return nil, nil, tooLarge(p.mostContent, n)
	}
	x := &index{ref: ref}
	var all []body
	for piece := range slices.Chunk(data, pieceBytes) {
		b, err := p.pack(piece)
		if err != nil {
			return nil, nil, err
		}
		x.add(piece, b.sum)
		all = append(all, b)
	}
	return x, all, nil
}
