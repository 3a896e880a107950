package openai

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/media"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// pieces are the parts of a message and where each of them lies.
type pieces struct {
	parts []llm.Part
	spans []llm.Span
}

func (p *pieces) add(part llm.Part, at llm.Span) {
	p.parts, p.spans = append(p.parts, part), append(p.spans, at)
}

// content reads the value of a member "content" or "output" at c: a string, an array of
// elements, or null, which it leaves to the caller.
func (p *pieces) content(c *raw.Cursor) error {
	switch next := c.Next(); {
	case raw.IsNone(next):
		return nil
	case raw.IsString(next):
		at := c.Skip(c.Pos())
		p.add(stringPart(c.Bytes(at)), at)
		return nil
	case !raw.IsArray(next):
		return c.Wrong("a string or an array")
	}
	return p.array(c, decodeElement)
}

// array reads the array of objects at c, each with element, which moves c behind it.
func (p *pieces) array(c *raw.Cursor, element func(*raw.Cursor) llm.Part) (err error) {
	c.Array(func(i int) bool {
		if !raw.IsObject(c.Next()) {
			err = raw.In(c.Wrong("an object"), index(i))
			return false
		}
		start := c.Pos()
		part := element(c)
		p.add(part, c.Since(start))
		return true
	})
	return err
}

// stringPart returns the text that is the string lit.
func stringPart(lit []byte) llm.Part {
	return llm.Text{Text: raw.Unquote(lit), Raw: llm.Raw{Data: lit}}
}

// grown returns list with room for one more, and for as many as may be expected: those
// that c has passed since start stand for those to come. A list of large structs that
// only doubled would cost as much again as it holds.
func grown[E any](list []E, c *raw.Cursor, start int) []E {
	const least, most = 16, 16 // elements, and times as many as there are
	n := len(list)
	if n < cap(list) {
		return list
	}
	if n < least {
		return slices.Grow(list, least)
	}
	expected := n * len(c.Next()) / max(c.Pos()-start, 1)
	return slices.Grow(list, min(expected+expected/16, most*n)+1)
}

// index returns the step of an error's path to element i.
func index(i int) string { return "[" + strconv.Itoa(i) + "]" }

// decodeElement reads the element of a content array at c, of either format.
func decodeElement(c *raw.Cursor) llm.Part {
	var kind, text []byte
	start := c.Pos()
	c.Object(func(name []byte) {
		switch string(name) {
		case "type":
			kind = c.Value()
		case "text":
			text = c.Value()
		}
	})
	b := c.Bytes(c.Since(start))
	switch string(word(kind)) {
	case "text", "input_text", "output_text":
		if raw.IsString(text) {
			return llm.Text{Text: raw.Unquote(text), Raw: llm.Raw{Data: b}}
		}
	case "image_url", "input_image", "computer_screenshot", "input_audio", "file", "input_file":
		return media.Part(b)
	}
	return llm.Opaque{Kind: raw.Unquote(kind), Raw: llm.Raw{Data: b}}
}

// word returns the text of the string lit to compare with, nil for what is no string.
func word(lit []byte) []byte {
	if !raw.IsString(lit) {
		return nil
	}
	return raw.Name(lit)
}

// A writer writes content for one format.
type writer struct {
	dialect  llm.Dialect // of what is written
	native   bool        // the parts' bytes are of that dialect
	textType string      // the type of a text element
	noMedia  bool        // the place takes only text
}

// newWriter returns the writer for a message m. Bytes of a message that names no
// dialect are taken to be of this one.
func newWriter(d llm.Dialect, m llm.Message) writer {
	w := writer{dialect: d, native: m.Dialect == d || m.Dialect == "", textType: "text"}
	if d == DialectResponses {
		w.textType = "input_text"
		if m.Role == llm.RoleAssistant {
			w.textType = "output_text"
		}
	}
	return w
}

// value returns parts as a content value: a string if it is text only and nothing came
// as an element of an array, else an array. nil if there is nothing to send.
func (w writer) value(parts []llm.Part) []byte {
	if text, ok := w.asString(parts); ok {
		return text
	}
	elements := w.elements(parts)
	if len(elements) == 0 {
		return nil
	}
	return raw.Array(elements)
}

// asString returns parts as one string literal, if they can be one. nil for empty text.
func (w writer) asString(parts []llm.Part) ([]byte, bool) {
	if w.native && len(parts) > 1 && !slices.ContainsFunc(parts, notLiteral) {
		var whole literal // the pieces of one content that a stream has cut
		for _, p := range parts {
			whole.add(p.Bytes())
		}
		whole.rest()
		return whole.bytes(), true
	}
	var texts []string
	for _, p := range parts {
		if w.native && (raw.IsObject(p.Bytes()) || raw.IsObject(raw.Base(p))) {
			return nil, false
		}
		s, ok := textOf(p)
		if !ok && w.element(p) != nil {
			return nil, false
		}
		if s != "" {
			texts = append(texts, s)
		}
	}
	if len(texts) == 0 {
		return nil, true
	}
	if len(parts) == 1 && w.native && raw.IsString(parts[0].Bytes()) {
		return parts[0].Bytes(), true // keeps its spelling
	}
	return raw.Quote(strings.Join(texts, "\n")), true
}

// notLiteral reports whether p is no text that came as a string literal.
func notLiteral(p llm.Part) bool {
	_, ok := textOf(p)
	return !ok || !raw.IsString(p.Bytes())
}

// elements returns parts as elements of a content array, without what says nothing.
func (w writer) elements(parts []llm.Part) [][]byte {
	var out [][]byte
	for _, p := range parts {
		if e := w.element(p); e != nil {
			out = append(out, e)
		}
	}
	return out
}

// element returns p as an element of a content array, nil if there is nothing to send.
func (w writer) element(p llm.Part) []byte {
	if w.native && raw.IsObject(p.Bytes()) {
		return whole(p)
	}
	switch p := p.(type) {
	case llm.Text:
		return w.text(p.Text, p.Raw)
	case llm.Stub:
		return w.text(p.Text, p.Raw)
	case llm.Media:
		return w.media(p)
	}
	return nil
}

// whole returns the bytes that p came as. Empty text is not sent again where content is
// written anew, and no opaque part that is not what its kind says: a reader's note about
// something that never was on this wire.
func whole(p llm.Part) []byte {
	switch p := p.(type) {
	case llm.Text:
		if p.Text == "" {
			return nil
		}
	case llm.Opaque:
		if raw.Unquote(raw.Value(p.Data, "type")) != p.Kind {
			return nil
		}
	}
	return p.Bytes()
}

// text returns a text element, with the fields of the one that it replaces.
func (w writer) text(text string, r llm.Raw) []byte {
	if text == "" {
		return nil
	}
	literal := r.Data
	if !w.native || !raw.IsString(literal) {
		literal = raw.Quote(text)
	}
	if w.native && raw.IsString(raw.Value(r.Base, "text")) {
		return raw.Set(r.Base, "text", literal)
	}
	return new(raw.Object).Text("type", w.textType).Raw("text", literal).Bytes()
}

// media returns an image or file that came in another dialect, or text in its place.
func (w writer) media(p llm.Media) []byte {
	s := media.Read(p.Bytes())
	if s.Text != "" {
		return w.text(s.Text, llm.Raw{})
	}
	var b []byte
	switch {
	case w.noMedia:
	case w.dialect == DialectChat:
		b = chatMedia(s)
	default:
		b = responsesMedia(s)
	}
	if b == nil {
		return w.text(media.Placeholder(p), llm.Raw{})
	}
	return b
}

func chatMedia(s media.Source) []byte {
	switch {
	case s.IsImage() && len(s.Data) > 0:
		return imageURL(s.DataURI())
	case s.IsImage() && s.URL != "":
		return imageURL(s.URL)
	case len(s.Data) > 0 && s.Type == "application/pdf":
		file := new(raw.Object).Text("filename", fileName(s)).Text("file_data", s.DataURI())
		return new(raw.Object).Text("type", "file").Raw("file", file.Bytes()).Bytes()
	}
	return nil
}

func imageURL(url string) []byte {
	inner := new(raw.Object).Text("url", url).Bytes()
	return new(raw.Object).Text("type", "image_url").Raw("image_url", inner).Bytes()
}

func responsesMedia(s media.Source) []byte {
	o := new(raw.Object)
	switch {
	case s.IsImage() && len(s.Data) > 0:
		return o.Text("type", "input_image").Text("image_url", s.DataURI()).Bytes()
	case s.IsImage() && s.URL != "":
		return o.Text("type", "input_image").Text("image_url", s.URL).Bytes()
	case len(s.Data) > 0 && s.Type == "application/pdf":
		return o.Text("type", "input_file").Text("filename", fileName(s)).Text("file_data", s.DataURI()).Bytes()
	case s.URL != "":
		return o.Text("type", "input_file").Text("file_url", s.URL).Bytes()
	}
	return nil
}

func fileName(s media.Source) string {
	if s.Name == "" {
		return "document.pdf"
	}
	return s.Name
}

// textOf returns what p says if it is text or stands for it.
func textOf(p llm.Part) (string, bool) {
	switch p := p.(type) {
	case llm.Text:
		return p.Text, true
	case llm.Stub:
		return p.Text, true
	}
	return "", false
}

// resultValue returns the content of a tool result. What came as an array stays one;
// else it is a string while it is text only.
func (w writer) resultValue(r llm.ToolResult, isArray bool) []byte {
	if isArray {
		return raw.Array(w.elements(r.Content))
	}
	if _, ok := w.asString(r.Content); !ok {
		if elements := w.elements(r.Content); len(elements) > 0 {
			return raw.Array(elements)
		}
	}
	if len(r.Content) == 1 && w.native && raw.IsString(r.Content[0].Bytes()) {
		return r.Content[0].Bytes()
	}
	return raw.Quote(r.Text())
}
