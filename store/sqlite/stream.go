package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

const (
	wholeBytes = 256 << 10 // contents up to this are packed in one go, which compresses better
	readBytes  = 128 << 10 // of one read
	spoolBytes = 1 << 20   // of one piece of a spool
)

// packFrom returns the Ref and the body of what r yields.
func (p *packer) packFrom(ctx context.Context, r io.Reader) (llm.Ref, body, error) {
	s := &stream{packer: p, hash: sha256.New(), spool: spool{most: p.mostBody}}
	if _, err := io.CopyBuffer(s, until{ctx, r}, make([]byte, readBytes)); err != nil {
		return "", body{}, err
	}
	b, err := s.body()
	return s.ref(), b, err
}

// A stream makes a body of what is written to it.
type stream struct {
	packer *packer
	hash   hash.Hash
	sum    uint32
	size   int64
	head   []byte        // everything, as long as that is not more than wholeBytes
	enc    *zstd.Encoder // then everything went into it, and from there into the spool
	spool  spool
}

func (s *stream) Write(data []byte) (int, error) {
	s.hash.Write(data) // never an error
	s.sum = crc32.Update(s.sum, s.packer.table, data)
	if s.size += int64(len(data)); s.size > s.packer.mostContent {
		return 0, &store.TooLargeError{Want: s.packer.mostContent, Got: s.size}
	}
	if s.enc == nil && s.size <= wholeBytes {
		s.head = append(s.head, data...)
		return len(data), nil
	}
	if s.enc == nil {
		if err := s.begin(); err != nil {
			return 0, err
		}
	}
	return s.enc.Write(data)
}

// begin turns to compressing as it comes. With a concurrency of 1 the encoder has no
// goroutines, so that it can be left alone when the reader fails.
func (s *stream) begin() (err error) {
	s.enc, err = zstd.NewWriter(&s.spool, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false),
		zstd.WithLowerEncoderMem(true), zstd.WithEncoderConcurrency(1))
	if err == nil {
		_, err = s.enc.Write(s.head)
		s.head = nil
	}
	return err
}

// ref is what llm.RefOf returns for all that was written.
func (s *stream) ref() llm.Ref {
	return llm.RefOfSum([sha256.Size]byte(s.hash.Sum(nil)))
}

// body returns the body of all that was written.
func (s *stream) body() (body, error) {
	if s.enc == nil {
		return s.packer.pack(s.head)
	}
	if err := s.enc.Close(); err != nil {
		return body{}, err
	}
	frame, err := s.spool.frame(s.size)
	return body{formZstd, s.size, int64(s.sum), frame}, err
}

// A spool holds a frame in pieces: one slice that grows would be there twice each time
// that it does.
type spool struct {
	pieces [][]byte
	size   int64
	most   int64 // bytes of the frame that is made of it
}

// sizeBytes is by how much a frame that says its size is longer.
const sizeBytes = 8

func (s *spool) Write(data []byte) (int, error) {
	if s.size += int64(len(data)); s.size+sizeBytes > s.most {
		return 0, &store.TooLargeError{Want: s.most, Got: s.size + sizeBytes, Packed: true}
	}
	for rest := data; len(rest) > 0; {
		last := len(s.pieces) - 1
		if last < 0 || len(s.pieces[last]) == spoolBytes {
			s.pieces = append(s.pieces, make([]byte, 0, spoolBytes))
			last++
		}
		n := min(len(rest), spoolBytes-len(s.pieces[last]))
		s.pieces[last] = append(s.pieces[last], rest[:n]...)
		rest = rest[n:]
	}
	return len(data), nil
}

// frame returns what was written as a frame that says how long its content is, as all
// of ours do, and lets go of the pieces. The encoder did not know that when it wrote the
// header: 4 bytes of magic, a descriptor of 0 and a window (RFC 8878, section 3.1.1.1).
func (s *spool) frame(size int64) ([]byte, error) {
	const descriptor, header, sizeOf8Bytes = 4, 6, 3 << 6
	var h zstd.Header
	if err := h.Decode(s.pieces[0]); err != nil {
		return nil, err
	}
	if h.HeaderSize != header || s.pieces[0][descriptor] != 0 {
		return nil, fmt.Errorf("frame, want a header of %d bytes without a descriptor, got %d and %#x", header, h.HeaderSize, s.pieces[0][descriptor])
	}
	out := make([]byte, 0, s.size+sizeBytes)
	out = append(out, s.pieces[0][:header]...)
	out[descriptor] = sizeOf8Bytes
	out = binary.LittleEndian.AppendUint64(out, uint64(size)) //nolint:gosec // it was counted
	s.pieces[0] = s.pieces[0][header:]
	for i, piece := range s.pieces {
		out = append(out, piece...)
		s.pieces[i] = nil
	}
	return out, nil
}

// until is a reader that ends with its context.
type until struct {
	ctx context.Context
	r   io.Reader
}

func (u until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}
