package sqlite

import (
	"bytes"
	"database/sql/driver"
	"fmt"
	"hash/crc32"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"
	"modernc.org/sqlite"

	"github.com/plimsoll-dev/plimsoll/store"
)

// The forms of a body.
const (
	formRaw  = 0
	formZstd = 1
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
	mostBody    int64 // the constants; less in tests
	mostContent int64
}

// A body is a content in the form in which it is kept.
type body struct {
	form int
	size int64 // bytes of the content
	sum  int64 // its CRC-32C
	data []byte
}

// tools are a driver whose connections know plimsoll_body, and its packer.
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
		zstd.WithSingleSegment(true)) // so that each body says how long its content is
	if err != nil {
		return tools{}, fmt.Errorf("sqlite: encoder: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true))
	if err != nil {
		return tools{}, fmt.Errorf("sqlite: decoder: %w", err)
	}
	p := &packer{enc, dec, crc32.MakeTable(crc32.Castagnoli), mostBody, mostContent}
	d := new(sqlite.Driver)
	return tools{p, d}, d.RegisterDeterministicScalarFunction("plimsoll_body", 4, p.function)
}

// pack returns the body of a content, which it may share.
func (p *packer) pack(data []byte) (body, error) {
	if n := int64(len(data)); n > p.mostContent {
		return body{}, &store.TooLargeError{Want: p.mostContent, Got: n}
	}
	b := body{formRaw, int64(len(data)), int64(crc32.Checksum(data, p.table)), data}
	if len(data) >= leastPacked {
		if packed := p.enc.EncodeAll(data, make([]byte, 0, len(data)/2)); len(packed) < len(data) {
			b.form, b.data = formZstd, packed
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

// unpack returns the content of a body, in memory of its own.
func (p *packer) unpack(b body) ([]byte, error) {
	var data []byte
	switch b.form {
	case formRaw:
		data = append([]byte{}, b.data...)
	case formZstd:
		// The size is compared before memory is asked for: a damaged file may say anything.
		var h zstd.Header
		if err := h.Decode(b.data); err != nil {
			return nil, fmt.Errorf("body is damaged: %w", err)
		}
		if most := min(p.mostContent, mostDensity*int64(len(b.data))); b.size < 0 || b.size > most {
			return nil, fmt.Errorf("body is damaged: size, want 0 to %d, got %d", most, b.size)
		}
		if !h.HasFCS || h.FrameContentSize != uint64(b.size) {
			return nil, fmt.Errorf("body is damaged: size, want %d, got %d", b.size, h.FrameContentSize)
		}
		var err error
		if data, err = p.dec.DecodeAll(b.data, make([]byte, 0, b.size)); err != nil {
			return nil, fmt.Errorf("body is damaged: %w", err)
		}
	default:
		return nil, fmt.Errorf("body is damaged: form, want 0 or 1, got %d", b.form)
	}
	if int64(len(data)) != b.size {
		return nil, fmt.Errorf("body is damaged: size, want %d, got %d", b.size, len(data))
	}
	if sum := int64(crc32.Checksum(data, p.table)); sum != b.sum {
		return nil, fmt.Errorf("body is damaged: checksum, want %08x, got %08x", b.sum, sum)
	}
	return data, nil
}

// function is plimsoll_body(form, size, sum, body) in SQL.
func (p *packer) function(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	form, ok1 := args[0].(int64)
	size, ok2 := args[1].(int64)
	sum, ok3 := args[2].(int64)
	data, ok4 := args[3].([]byte)
	if !ok1 || !ok2 || !ok3 || !ok4 || form < 0 || form > math.MaxInt8 {
		return nil, fmt.Errorf("plimsoll_body: want the columns form, size, sum and body")
	}
	if size > mostValue {
		return nil, fmt.Errorf("plimsoll_body: content, want at most %d bytes in a query, got %d", mostValue, size)
	}
	out, err := p.unpack(body{int(form), size, sum, bytes.Clone(data)})
	return out, err
}
