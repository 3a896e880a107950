// Package media reads what the dialects know of images, documents and sound: where
// the bytes are, of what type, how big. It knows the shapes of all dialects, so
// that each codec can also send what came in another one's shape. It never decodes
// a whole image, only its header.
package media

import (
	"bytes"
	"cmp"
	"path"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// AnyImage is the media type of an image whose type nobody states.
const AnyImage = "image/*"

// A Source is the content of one media part. One of Data, URL, File and Text is
// set; none if the shape is not known.
type Source struct {
	Type string // media type; AnyImage or empty if not stated
	Data []byte // base64, in the standard alphabet
	URL  string
	File string // a file that one provider keeps: the id means nothing elsewhere
	Text string // a plain text document
	Name string // file name, often empty
	// Detail is how closely an image is to be looked at, in the words of llm.Media.
	Detail string
}

// IsImage reports whether s is an image.
func (s Source) IsImage() bool { return strings.HasPrefix(s.Type, "image/") }

// DataURI returns the content as a data: URI.
func (s Source) DataURI() string { return "data:" + s.Type + ";base64," + string(s.Data) }

// Part returns the media part that came as block: size and, for an image with its
// bytes in place, width and height.
func Part(block []byte) llm.Media {
	s := Read(block)
	m := llm.Media{Type: s.Type, Size: len(s.Data) + len(s.Text), Detail: s.Detail, Raw: llm.Raw{Data: block}}
	if s.IsImage() && len(s.Data) > 0 {
		m.Width, m.Height = Dimensions(s.Data)
	}
	return m
}

// TypeOf returns the media type of s, from the end of its address if it is not stated;
// empty if nothing tells it.
func TypeOf(s Source) string {
	if s.Type != "" && s.Type != AnyImage && strings.Contains(s.Type, "/") {
		return s.Type
	}
	address, _, _ := strings.Cut(s.URL, "?")
	switch strings.ToLower(path.Ext(address)) {
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".webp":
		return "image/webp"
	case ".gif":
		return "image/gif"
	case ".pdf":
		return "application/pdf"
	}
	return ""
}

// Placeholder is the text that stands for a media part which a dialect cannot carry.
func Placeholder(m llm.Media) string {
	kind := m.Type
	if kind == "" || kind == AnyImage {
		kind, _, _ = strings.Cut(kind+"/", "/")
	}
	if kind == "" {
		kind = "file"
	}
	return "[" + kind + " left out: it cannot be sent to this provider]"
}

// Read returns the content of one content block of any dialect. A block that is a
// string, as Ollama has them, is an image.
func Read(block []byte) Source {
	if raw.IsString(block) {
		return bareImage(block)
	}
	v := raw.Values(block, "type", "source", "image_url", "file", "input_audio", "detail", "mediaResolution", "media_resolution")
	kind := raw.Unquote(v[0])
	var s Source
	switch {
	case raw.IsObject(v[1]):
		s = anthropic(v[1])
	case raw.IsString(v[2]):
		s = uri(v[2])
	case raw.IsObject(v[2]):
		w := raw.Values(v[2], "url", "detail")
		s, v[5] = uri(w[0]), w[1]
	case raw.IsObject(v[3]):
		s = file(v[3])
	case raw.IsObject(v[4]):
		s = audio(v[4])
	default:
		var ok bool
		if s, ok = gemini(block); !ok {
			s = file(block)
		}
	}
	if s.Type == "" && strings.Contains(kind, "image") {
		s.Type = AnyImage
	}
	s.Detail = detail(v[5], v[6], v[7])
	return s
}

// detail reads the first of values that says how closely an image is to be looked
// at: OpenAI's detail, or Gemini's media resolution. Both leave it to the provider
// where they say auto or nothing.
func detail(values ...[]byte) string {
	for _, v := range values {
		if raw.IsObject(v) {
			v = raw.Value(v, "level")
		}
		switch word := strings.ToLower(raw.Unquote(v)); strings.TrimPrefix(word, "media_resolution_") {
		case "low":
			return "low"
		case "medium":
			return "medium"
		case "high":
			return "high"
		case "original", "ultra_high":
			return "original"
		}
	}
	return ""
}

// anthropic reads {"type": base64 | url | file | text, …}.
func anthropic(source []byte) Source {
	v := raw.Values(source, "type", "media_type", "data", "url", "file_id")
	s := Source{Type: raw.Unquote(v[1]), URL: raw.Unquote(v[3]), File: raw.Unquote(v[4])}
	if raw.Named(v[0], "text") {
		s.Text = raw.Unquote(v[2])
		return s
	}
	s.Data = inner(v[2])
	return s
}

// file reads {"file_data", "file_url", "file_id", "filename"}, in an object of its
// own (OpenAI chat) or in the block (OpenAI responses).
func file(obj []byte) Source {
	v := raw.Values(obj, "file_data", "file_url", "file_id", "filename")
	s := uri(v[0])
	if s.URL == "" {
		s.URL = raw.Unquote(v[1])
	}
	s.File, s.Name = raw.Unquote(v[2]), raw.Unquote(v[3])
	return s
}

// audio reads {"data", "format"}.
func audio(obj []byte) Source {
	v := raw.Values(obj, "data", "format")
	s := Source{Data: inner(v[0]), Type: "audio"}
	if format := raw.Unquote(v[1]); format != "" {
		s.Type += "/" + format
	}
	return s
}

// gemini reads {"inlineData": {"mimeType", "data"}} and {"fileData": {"mimeType",
// "fileUri"}}, in either spelling of the names; false if block is neither.
func gemini(block []byte) (Source, bool) {
	for k, v := range raw.Members(block) {
		value := raw.Slice(block, v)
		if !raw.IsObject(value) {
			continue
		}
		switch string(raw.Name(block[k.Start:k.End])) {
		case "inlineData", "inline_data":
			w := raw.Values(value, "mimeType", "mime_type", "data", "displayName")
			return Source{Type: raw.Unquote(w[0]) + raw.Unquote(w[1]), Data: standard(inner(w[2])), Name: raw.Unquote(w[3])}, true
		case "fileData", "file_data":
			w := raw.Values(value, "mimeType", "mime_type", "fileUri", "file_uri", "displayName")
			s := Source{Type: raw.Unquote(w[0]) + raw.Unquote(w[1]), Name: raw.Unquote(w[4])}
			if uri := raw.Unquote(w[2]) + raw.Unquote(w[3]); isKept(uri) {
				s.File = uri
			} else {
				s.URL = uri
			}
			return s, true
		}
	}
	return Source{}, false
}

// isKept reports whether only Google can read what is at uri.
func isKept(uri string) bool {
	return strings.HasPrefix(uri, "gs://") || strings.HasPrefix(uri, "https://generativelanguage.googleapis.com/")
}

// bareImage reads a string literal that holds an image: in base64, as a data: URI or by
// its address. What base64 begins with tells the type.
func bareImage(lit []byte) Source {
	if s := uri(lit); len(s.Data) > 0 || strings.HasPrefix(s.URL, "http://") || strings.HasPrefix(s.URL, "https://") {
		if s.Type == "" {
			s.Type = AnyImage
		}
		return s
	}
	data := standard(inner(lit))
	return Source{Type: cmp.Or(Seen(data), AnyImage), Data: data}
}

// Seen returns the media type that the beginning of an image in base64 tells; empty if it
// tells none.
func Seen(b64 []byte) string {
	for _, known := range []struct{ begin, kind string }{
		{"iVBORw0KGgo", "image/png"}, {"/9j/", "image/jpeg"}, {"R0lGOD", "image/gif"}, {"UklGR", "image/webp"},
	} {
		if bytes.HasPrefix(b64, []byte(known.begin)) {
			return known.kind
		}
	}
	return ""
}

// Block returns a content block with an image, in a shape that [Read] knows.
func Block(s Source) []byte {
	url := new(raw.Object).Text("url", s.DataURI()).Bytes()
	return new(raw.Object).Text("type", "image_url").Raw("image_url", url).Bytes()
}

// standard returns base64 in the alphabet and with the padding that every provider takes:
// Gemini also has it in the alphabet for addresses.
func standard(b64 []byte) []byte {
	if bytes.IndexByte(b64, '-') < 0 && bytes.IndexByte(b64, '_') < 0 && len(b64)%4 == 0 {
		return b64
	}
	out := make([]byte, 0, len(b64)+3)
	for _, c := range b64 {
		switch c {
		case '-':
			c = '+'
		case '_':
			c = '/'
		}
		out = append(out, c)
	}
	for len(out)%4 != 0 {
		out = append(out, '=')
	}
	return out
}

// uri reads a string literal that holds a data: URI or an address.
func uri(lit []byte) Source {
	b := inner(lit)
	head, data, isData := bytes.Cut(b, []byte(","))
	if meta, ok := bytes.CutPrefix(head, []byte("data:")); ok && isData {
		kind, base64 := bytes.CutSuffix(meta, []byte(";base64"))
		kind, _, _ = bytes.Cut(kind, []byte(";"))
		if base64 {
			return Source{Type: string(kind), Data: data}
		}
	}
	return Source{URL: string(b)}
}

// inner returns the text of a string literal, without a copy where nothing is escaped.
func inner(lit []byte) []byte {
	if !raw.IsString(lit) || len(lit) < 2 {
		return nil
	}
	if bytes.IndexByte(lit, '\\') < 0 {
		return lit[1 : len(lit)-1]
	}
	return []byte(raw.Unquote(lit))
}
