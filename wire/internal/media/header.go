package media

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
)

// headerBytes is how far into an image its size is looked for. A JPEG may carry
// a preview picture and colour tables before it.
const headerBytes = 256 << 10

// Dimensions returns width and height in pixels of the PNG, JPEG, GIF or WebP that
// is written in base64, from its header alone. 0, 0 if they cannot be read.
func Dimensions(b64 []byte) (width, height int) {
	r := bufio.NewReader(io.LimitReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(b64)), headerBytes))
	head, _ := r.Peek(webpHeader) // a shorter head matches fewer formats
	var c image.Config
	var err error
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		c, err = png.DecodeConfig(r)
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		c, err = jpeg.DecodeConfig(r)
	case bytes.HasPrefix(head, []byte("GIF8")):
		c, err = gif.DecodeConfig(r)
	case len(head) == webpHeader && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return webp(head)
	}
	if err != nil {
		return 0, 0 // an image that cannot be read has no known size; the provider will judge it
	}
	return c.Width, c.Height
}

// webpHeader is the length of the longest WebP header that holds the size.
const webpHeader = 30

// webp reads the size from the first chunk: the extended format, lossless or lossy
// (WebP container specification; RFC 6386 section 9.1; WebP lossless bitstream section 3).
func webp(h []byte) (width, height int) {
	switch string(h[12:16]) {
	case "VP8X":
		return 1 + uint24(h[24:]), 1 + uint24(h[27:])
	case "VP8L":
		bits := binary.LittleEndian.Uint32(h[21:])
		return 1 + int(bits&0x3fff), 1 + int(bits>>14&0x3fff)
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(h[26:]) & 0x3fff), int(binary.LittleEndian.Uint16(h[28:]) & 0x3fff)
	}
	return 0, 0
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
