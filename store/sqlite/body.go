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
)

// The forms of a body.
const (
	formRaw  = 0
	formZstd = 1
)

const (
	leastPacked = 128           // bytes; below that zstd's own header eats up what it saves
	mostBody    = 1_000_000_000 // bytes of a content; SQLite's default limit of a value (SQLITE_MAX_LENGTH)
)

// A packer turns contents into bodies and back. It is safe for concurrent use.
type packer struct {
	enc   *zstd.Encoder
	dec   *zstd.Decoder
	table *crc32.Table
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
	p := &packer{enc, dec, crc32.MakeTable(crc32.Castagnoli)}
	d := new(sqlite.Driver)
	return tools{p, d}, d.RegisterDeterministicScalarFunction("plimsoll_body", 4, p.function)
}

// pack returns the body of a content, which it may share.
func (p *packer) pack(data []byte) (body, error) {
	if len(data) > mostBody {
		return body{}, fmt.Errorf("content, want at most %d bytes, got %d", mostBody, len(data))
	}
	b := body{formRaw, int64(len(data)), int64(crc32.Checksum(data, p.table)), data}
	if len(data) >= leastPacked {
		if packed := p.enc.EncodeAll(data, make([]byte, 0, len(data)/2)); len(packed) < len(data) {
			b.form, b.data = formZstd, packed
		}
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
		if b.size < 0 || b.size > mostBody || !h.HasFCS || h.FrameContentSize != uint64(b.size) {
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
	out, err := p.unpack(body{int(form), size, sum, bytes.Clone(data)})
	return out, err
}
