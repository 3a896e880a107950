package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
	"modernc.org/sqlite"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// The forms of a body.
const (
	formRaw    = 0
	formZstd   = 1
	formPieces = 2 // of a blob: an index of pieces, which are of the forms above
)

const (
	leastPacked = 128 // bytes; below that zstd's own header eats up what it saves

	// SQLite's default limit of a value and of a row (SQLITE_MAX_LENGTH), in bytes.
	mostValue = 1_000_000_000
	// Bytes of a body. A row has a ref and numbers beside it, in less than 128 bytes.
	mostBody = mostValue - 128
	// Bytes of a content, which a read returns in one piece.
	mostContent int64 = min(4<<30, math.MaxInt)
	// No frame holds more than 128 KiB for each 4 bytes (RFC 8878: a block of one byte, repeated).
	mostDensity = 32 << 10
)

// A packer turns contents into bodies and back. It is safe for concurrent use.
type packer struct {
	enc         *zstd.Encoder
	dec         *zstd.Decoder
	table       *crc32.Table
	scratch     *sync.Pool // of *[]byte, to compress into
	mostBody    int64      // the constants; less in tests
	mostContent int64
}

// mostScratch is the longest memory that is kept for the next body.
const mostScratch = 2 * pieceBytes

// A body is a content in the form in which it is kept.
type body struct {
	form int
	size int64 // bytes of the content
	sum  int64 // its CRC-32C; of what has a place, of the content and the place
	data []byte
}

// at returns a body with the sum that it has as the record or snapshot seq of a session.
func (p *packer) at(b body, session, seq int64) body {
	b.sum = p.placed(b.sum, session, seq)
	return b
}

// placed continues the checksum of a content with numbers, so that the same content has
// another one in another place.
func (p *packer) placed(sum int64, place ...int64) int64 {
	var text []byte
	for _, n := range place {
		text = binary.LittleEndian.AppendUint64(text, uint64(n)) //nolint:gosec // the bits are what counts
	}
	return int64(crc32.Update(uint32(sum), p.table, text)) //nolint:gosec // so is a sum kept
}

// tools are a driver whose connections know our functions, and its packer.
type tools struct {
	packer *packer
	driver *sqlite.Driver
}

// shared makes the tools once: what is registered with a driver, and all that it
// refers to, lives as long as the program.
var shared = sync.OnceValues(newTools)

func newTools() (tools, error) {
	// The fastest level: within a tenth of the default's size, a third faster.
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true),
		zstd.WithWindowSize(pieceBytes), // most bodies are no longer; its memory is twice that
		zstd.WithSingleSegment(true))    // so that each body says how long its content is
	if err != nil {
		return tools{}, fmt.Errorf("sqlite: encoder: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true))
	if err != nil {
		return tools{}, fmt.Errorf("sqlite: decoder: %w", err)
	}
	p := &packer{enc, dec, crc32.MakeTable(crc32.Castagnoli), new(sync.Pool), mostBody, mostContent}
	d := new(sqlite.Driver)
	err = errors.Join(
		d.RegisterDeterministicScalarFunction("plimsoll_body", 5, p.content),
		d.RegisterDeterministicScalarFunction("plimsoll_place", 3, p.place),
		d.RegisterDeterministicScalarFunction("plimsoll_first", 6, p.firstLine),
		d.RegisterFunction("plimsoll_join", &sqlite.FunctionImpl{
			NArgs: 6, Deterministic: true,
			MakeAggregate: func(sqlite.FunctionContext) (sqlite.AggregateFunction, error) { return &joining{packer: p}, nil },
		}),
	)
	return tools{p, d}, err
}

// pack returns the body of a content, which it may share.
func (p *packer) pack(data []byte) (body, error) {
	if n := int64(len(data)); n > p.mostContent {
		return body{}, tooLarge(p.mostContent, n)
	}
	b := body{formRaw, int64(len(data)), int64(crc32.Checksum(data, p.table)), data}
	if len(data) >= leastPacked {
		// What it becomes is known only then, and what does not compress becomes longer.
		scratch, _ := p.scratch.Get().(*[]byte)
		if scratch == nil {
			scratch = new([]byte)
		}
		*scratch = p.enc.EncodeAll(data, (*scratch)[:0])
		if len(*scratch) < len(data) {
			b.form, b.data = formZstd, bytes.Clone(*scratch)
		}
		if cap(*scratch) <= mostScratch {
			p.scratch.Put(scratch)
		}
	}
	if n := int64(len(b.data)); n > p.mostBody {
		return body{}, &store.TooLargeError{Want: p.mostBody, Got: n, Packed: true}
	}
	if b.data == nil {
		b.data = []byte{} // nil would be NULL
	}
	return b, nil
}

// unpack returns the content of a body, in memory of its own. place is that of a record or
// a snapshot. An error is a *store.DamageError that does not know yet whose body it is.
func (p *packer) unpack(b body, place ...int64) ([]byte, error) {
	return p.unpackInto(nil, b, place...)
}

// unpackInto is unpack into memory that nobody needs any more, if it is large enough.
func (p *packer) unpackInto(data []byte, b body, place ...int64) ([]byte, error) {
	switch b.form {
	case formRaw:
		data = append(slices.Grow(data[:0], len(b.data)), b.data...)
	case formZstd:
		// The size is compared before memory is asked for: a damaged file may say anything.
		var h zstd.Header
		if err := h.Decode(b.data); err != nil {
			return nil, flaw("frame", "one of zstd", err)
		}
		if most := min(p.mostContent, mostDensity*int64(len(b.data))); b.size < 0 || b.size > most {
			return nil, flaw("size", fmt.Sprint("0 to ", most), b.size)
		}
		if !h.HasFCS || h.FrameContentSize != uint64(b.size) {
			return nil, flaw("size", b.size, h.FrameContentSize)
		}
		var err error
		if data, err = p.dec.DecodeAll(b.data, slices.Grow(data[:0], int(b.size))); err != nil {
			return nil, flaw("frame", "one of zstd", err)
		}
	default:
		return nil, flaw("form", "0 or 1", b.form)
	}
	if int64(len(data)) != b.size {
		return nil, flaw("size", b.size, len(data))
	}
	if sum := p.placed(int64(crc32.Checksum(data, p.table)), place...); sum != b.sum {
		return nil, flaw("checksum", fmt.Sprintf("%08x", b.sum), fmt.Sprintf("%08x", sum))
	}
	return data, nil
}

// flaw is what is wrong with a body.
func flaw(what string, want, got any) error {
	return &store.DamageError{What: what, Want: fmt.Sprint(want), Got: fmt.Sprint(got)}
}

// blob returns the content of a body whose ref is known. An error is like that of unpack.
func (p *packer) blob(b body, ref llm.Ref) ([]byte, error) {
	data, err := p.unpack(b)
	if err != nil {
		return nil, err
	}
	if got := llm.RefOf(data); got != ref {
		return nil, flaw("ref of the content", ref, got)
	}
	return data, nil
}

// owned tells a damage where it was found.
func owned(err error, session, format string, args ...any) error {
	if d, ok := errors.AsType[*store.DamageError](err); ok {
		d.Session, d.Place = session, fmt.Sprintf(format, args...)
	}
	return err
}
