package transport

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// MostBody is how large a request may be, packed and unpacked, in bytes.
const MostBody = 64 << 20

// errTooLarge says that a body is larger than it may be.
var errTooLarge = errors.New("body is too large")

// errCoding says that a body is packed in a way that is not known here.
var errCoding = errors.New("unknown content coding")

// knows reports whether unpacker has a coding. Several that were applied one after another
// are none that it has.
func knows(coding string) bool {
	switch strings.ToLower(strings.TrimSpace(coding)) {
	case "", "identity", "gzip", "x-gzip", "deflate", "br", "zstd":
		return true
	}
	return false
}

// unpacker returns a reader of what r holds, unpacked.
func unpacker(coding string, r io.Reader) (io.Reader, error) {
	switch strings.ToLower(strings.TrimSpace(coding)) {
	case "", "identity":
		return r, nil
	case "gzip", "x-gzip":
		return gzip.NewReader(r)
	case "deflate":
		return inflater(r)
	case "br":
		return brotli.NewReader(r), nil
	case "zstd":
		// One goroutine and a bounded window: many requests may be unpacked side by side.
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MostBody), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return nil, fmt.Errorf("%w %q", errCoding, coding)
}

// inflater returns a reader of what is packed as deflate: the zlib format (RFC 1950), as HTTP
// has it, or the bare one (RFC 1951), which some servers and clients send under that name.
func inflater(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	head, err := b.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	// A bare one cannot begin like this: it would be a block that is not packed, whose padding
	// is not empty.
	if len(head) < 2 || head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(b)
	}
	return flate.NewReader(b), nil
}

// opened returns a reader of what r holds, unpacked, and true; where r does not begin as its
// coding says, one of its very bytes.
func opened(coding string, r io.Reader) (io.Reader, bool) {
	kept := &keeping{r: r}
	plain, err := unpacker(coding, kept)
	if err != nil {
		return io.MultiReader(bytes.NewReader(kept.begun), r), false
	}
	kept.over, kept.begun = true, nil
	return plain, true
}

// A keeping reader keeps what is read of another one, until it is over.
type keeping struct {
	r     io.Reader
	begun []byte
	over  bool
}

// Read implements io.Reader.
func (k *keeping) Read(p []byte) (int, error) {
	n, err := k.r.Read(p)
	if !k.over {
		k.begun = append(k.begun, p[:n]...)
	}
	return n, err
}

// Unpack returns the whole of a body, unpacked, of at most MostBody bytes. coding is that of the
// header Content-Encoding.
func Unpack(coding string, packed []byte) ([]byte, error) {
	r, err := unpacker(coding, bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	if r, ok := r.(*bytes.Reader); ok && r.Len() == len(packed) {
		return packed, nil // it was not packed
	}
	if c, ok := r.(io.Closer); ok {
		defer c.Close() //nolint:errcheck // nothing is written
	}
	return readAll(r, 0)
}

// mostStated is how many bytes are made room for because a client says that they will come.
const mostStated = 4 << 20

// readAll reads r, of at most MostBody bytes. stated is how many come, as far as whoever
// sends them says; 0 or less: nobody does.
func readAll(r io.Reader, stated int64) ([]byte, error) {
	var data bytes.Buffer
	data.Grow(int(min(max(stated, 0), mostStated)) + bytes.MinRead) // with which the end is found without more room
	if _, err := data.ReadFrom(io.LimitReader(r, MostBody+1)); err != nil {
		return nil, err
	}
	if data.Len() > MostBody {
		return nil, fmt.Errorf("%w: want at most %d bytes", errTooLarge, MostBody)
	}
	return data.Bytes(), nil
}
