package verify

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"hash/maphash"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// SourceOptions is what the caller knows of a session file.
type SourceOptions struct {
	// Format names the file's format as package sessionfile does. In files of the
	// formats "claude-code" and "codex" copies for the screen are not looked at.
	Format string
	// Own are texts that the client sent and did not record: a system prompt, the
	// results of interrupted calls, what stands in place of outputs that it cleared;
	// and names of tools.
	Own []string
}

// Source returns the parts of a raw body that its session file does not have; see
// [Checker.Missing].
func Source(dialect string, raw, file []byte, o SourceOptions) ([]string, error) {
	c, err := NewChecker(dialect)
	if err != nil {
		return nil, err
	}
	return c.Missing(raw, ReadSession(file, o.Format), o.Own)
}

// deepest is how deep values are looked at in a session file.
const deepest = 48

// A Session is the content of a session file.
type Session struct {
	seed    maphash.Seed
	raws    map[uint64]bool // bytes of every object and string
	said    map[uint64]bool // what strings say
	records [][]string      // what the strings of each line say
}

// ReadSession takes a session file apart: one record for each line of JSON, one for
// a file that is a single document, one for each document in a zip archive, one for
// anything else. A line that is no JSON beside others that are is left out. It never
// fails; what it could not read will be missing. A byte-order mark at the beginning is
// not part of the text.
func ReadSession(file []byte, format string) *Session {
	file = bytes.TrimPrefix(file, []byte("\xEF\xBB\xBF"))
	s := &Session{seed: maphash.MakeSeed(), raws: map[uint64]bool{}, said: map[uint64]bool{}}
	switch {
	case bytes.HasPrefix(file, []byte("PK\x03\x04")):
		s.archive(file)
		return s
	case json.Valid(file):
		s.record(file, "")
		return s
	}
	streamed := ""
	for l := range bytes.Lines(file) {
		if first(bytes.TrimSpace(l)) != '{' || !json.Valid(l) {
			continue
		}
		s.record(l, format)
		if format == "gemini-cli" {
			streamed = s.piece(streamed, l)
		}
	}
	if len(s.records) == 0 {
		s.records = [][]string{{string(file)}}
	}
	return s
}

// piece adds one piece of a streamed text to those before it, and notes what they say
// together so far. Any other line ends the text.
func (s *Session) piece(before string, line []byte) string {
	ms := members(bytes.TrimSpace(line))
	if string(get(ms, "delta")) != "true" {
		return ""
	}
	all := before + text(ms, "content")
	s.said[maphash.String(s.seed, all)] = true
	return all
}

// Bounds on what is unpacked of an archive, in bytes.
const (
	mostUnpacked = 1 << 30
	mostWindow   = 64 << 20 // of what looks back while it is unpacked
)

// archive takes the documents in a zip archive apart.
func (s *Session) archive(file []byte) {
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return
	}
	z.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow)))
	left := int64(mostUnpacked)
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			continue
		}
		doc, err := io.ReadAll(io.LimitReader(r, left))
		_ = r.Close() // it was only read
		left -= int64(len(doc))
		if err == nil && json.Valid(doc) {
			s.record(doc, "")
		}
	}
}

// record takes one document apart.
func (s *Session) record(doc []byte, format string) {
	doc = bytes.TrimSpace(doc)
	ms := members(doc)
	kind := text(ms, "type")
	if format == "claude-code" && kind == "progress" || format == "codex" && kind == "event_msg" {
		return
	}
	if format == "claude-code" {
		doc = without(doc, "toolUseResult")
	}
	texts := s.walk(nil, doc, 0)
	for _, t := range texts {
		s.said[maphash.String(s.seed, t)] = true
	}
	s.records = append(s.records, texts)
}

// walk notes the bytes of every value and returns what the strings say.
func (s *Session) walk(out []string, v []byte, depth int) []string {
	if depth > deepest {
		return out
	}
	switch first(v) {
	case '"':
		s.raws[maphash.Bytes(s.seed, v)] = true
		return append(out, unquote(v))
	case '[':
		for _, e := range elements(v) {
			out = s.walk(out, e, depth+1)
		}
	case '{':
		s.raws[maphash.Bytes(s.seed, v)] = true
		ms := members(v)
		if len(ms) == 1 { // such as a tool of the provider's, which may be written without the spaces around it
			s.raws[maphash.String(s.seed, "{"+string(ms[0].raw)+"}")] = true
		}
		for _, m := range ms {
			if isArgs(m.name) {
				out = append(out, canonical(m.value))
			}
			out = s.walk(out, m.value, depth+1)
			if m.name == "body" || m.name == "response" {
				out = s.walk(out, document(m.value), depth+1)
			}
		}
	}
	return out
}

// document returns what a string says if that is a document, as in a recorded exchange; nil
// if not.
func document(v []byte) []byte {
	if first(v) != '"' {
		return nil
	}
	if doc := []byte(unquote(v)); first(doc) == '{' && json.Valid(doc) {
		return doc
	}
	return nil
}

// sourced is a part of a Checker in a session file.
type sourced struct {
	file *Session
	id   int
}

// Missing returns the parts of a raw body that f does not have: neither their bytes
// nor, string by string, what they say. own are texts, and lines, that need not be there. A text
// that a reader put together is found if one record has all of its lines.
func (c *Checker) Missing(raw []byte, f *Session, own []string) ([]string, error) {
	if err := c.next(&c.raw, raw); err != nil {
		return nil, err
	}
	var missing []string
	for _, s := range spots(c.raw.list, 0) {
		key := sourced{f, s.id}
		if c.found[key] {
			continue
		}
		if c.found[key] = f.has(s.piece); c.found[key] {
			continue
		}
		said := strings.TrimSpace(s.Text)
		if s.Kind == Tool {
			said = s.Name
		}
		if !f.saysBeside(said, own) {
			missing = append(missing, s.Place.String()+": "+string(s.Kind)+" "+short(s.piece.Part))
		}
	}
	return missing, nil
}

// has reports whether the file has a part.
func (s *Session) has(p *piece) bool {
	if s.raws[maphash.Bytes(s.seed, without(p.Raw, "cache_control"))] {
		return true
	}
	if v := plain(p.Part); v != nil && s.raws[maphash.Bytes(s.seed, v)] {
		return true
	}
	atoms := atomsOf(p.Part)
	if len(atoms) == 0 {
		return false
	}
	for _, a := range atoms {
		known := s.says(a) || s.says(contentOf(a)) || a == p.CallID && s.says(unnumbered(a))
		if a != "{}" && !known { // a call without arguments may have none in the file
			return false
		}
	}
	return true
}

// contentOf returns what an address holds that holds its content: a file may have no address.
func contentOf(url string) string {
	if _, content, ok := strings.Cut(url, ";base64,"); ok && strings.HasPrefix(url, "data:") {
		return content
	}
	return url
}

// saysBeside reports whether said is one of the texts own, or the file has it without the
// lines that are: a dialect may write several texts of a message as one.
func (s *Session) saysBeside(said string, own []string) bool {
	isOwn := func(what string) bool {
		return slices.ContainsFunc(own, func(t string) bool { return strings.TrimSpace(t) == what })
	}
	if isOwn(said) {
		return true
	}
	lines := strings.Split(said, "\n")
	rest := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return isOwn(strings.TrimSpace(l)) })
	return len(rest) < len(lines) && s.says(strings.Join(rest, "\n"))
}

// unnumbered returns an id without the number by which it is told from another call's in
// its message, if it has one: the file has them without.
func unnumbered(id string) string {
	at := strings.LastIndexByte(id, '#')
	if at < 0 || strings.Trim(id[at+1:], "0123456789") != "" {
		return id
	}
	return id[:at]
}

// says reports whether a string of the file is what or has it in it, or one record
// has every line of it.
func (s *Session) says(what string) bool {
	if s.said[maphash.String(s.seed, what)] {
		return true
	}
	lines := slices.DeleteFunc(strings.Split(what, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	return slices.ContainsFunc(s.records, func(texts []string) bool {
		return contains(texts, what) || len(lines) > 1 && !slices.ContainsFunc(lines, func(l string) bool { return !contains(texts, l) })
	})
}

func contains(texts []string, s string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, s) })
}
