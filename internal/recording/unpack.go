package recording

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
)

// unpack decompresses a body. Its first bytes decide: clients decompress before they record and leave the header as it was.
func unpack(data []byte, encoding string) ([]byte, error) {
	switch {
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	case encoding == "deflate" && data[0] == 0x78:
		r, err := zlib.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	case encoding == "br" && (data[0] < 0x20 || data[0] >= 0x80):
		return nil, fmt.Errorf("body, want gzip or zlib, got brotli")
	}
	return data, nil
}
