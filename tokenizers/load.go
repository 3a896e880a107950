package tokenizers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// MaxFileBytes is the size of the largest file that Load reads. The largest known tokenizer.json has about 35 MB.
const MaxFileBytes = 64 << 20

// file is a tokenizer.json as far as it is read (github.com/huggingface/tokenizers, version "1.0" of the format).
type file struct {
	Added        []addedJSON     `json:"added_tokens"`
	Normalizer   json.RawMessage `json:"normalizer"`
	PreTokenizer json.RawMessage `json:"pre_tokenizer"`
	Model        *modelJSON      `json:"model"`
}

type modelJSON struct {
	Type         string            `json:"type"`
	Dropout      json.RawMessage   `json:"dropout"`
	Prefix       string            `json:"continuing_subword_prefix"`
	Suffix       string            `json:"end_of_word_suffix"`
	IgnoreMerges bool              `json:"ignore_merges"`
	ByteFallback bool              `json:"byte_fallback"`
	Unknown      json.RawMessage   `json:"unk_token"`
	Vocab        map[string]uint32 `json:"vocab"`
	Merges       json.RawMessage   `json:"merges"`
}

type addedJSON struct {
	ID         uint32 `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	Lstrip     bool   `json:"lstrip"`
	Rstrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// Load reads a tokenizer.json of at most MaxFileBytes. It fails with an *UnsupportedError where the file asks for what
// this package does not do; other errors name the file and the place in it.
func Load(path string) (*Tokenizer, error) {
	data, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizers: load %s: %w", path, err)
	}
	t, err := parse(data)
	if err == nil {
		return t, nil
	}
	if f, ok := errors.AsType[*fault](err); ok && f.unsupported {
		return nil, &UnsupportedError{File: path, Path: f.path, Got: f.got, Want: f.want}
	}
	return nil, fmt.Errorf("tokenizers: load %s: %w", path, err)
}

var errNotRegular = errors.New("want a tokenizer.json, got no regular file")

// read returns the content of a regular file of bounded size.
func read(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, errNotRegular // opening a pipe would wait for somebody to write
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, withoutPath(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	if info.Size() > MaxFileBytes {
		return nil, fmt.Errorf("size, want at most %d bytes, got %d", MaxFileBytes, info.Size())
	}
	data := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := data.ReadFrom(io.LimitReader(f, MaxFileBytes+1)); err != nil {
		return nil, withoutPath(err)
	}
	if data.Len() > MaxFileBytes { // it grew meanwhile
		return nil, fmt.Errorf("size, want at most %d bytes, got more", MaxFileBytes)
	}
	return data.Bytes(), nil
}

// withoutPath takes the path out of an error whose message will name it anyway.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("%s: %w", e.Op, e.Err)
	}
	return err
}

// parse builds a Tokenizer of a file's content.
func parse(data []byte) (*Tokenizer, error) {
	var f file
	if err := decode("", data, &f); err != nil {
		return nil, err
	}
	if f.Model == nil {
		return nil, invalid("model", "an object", "none")
	}
	m, err := newModel(f.Model)
	if err != nil {
		return nil, err
	}
	t := &Tokenizer{model: m, scratches: &sync.Pool{New: func() any { return new(scratch) }}}
	if t.forms, err = readNormalizer("normalizer", f.Normalizer); err != nil {
		return nil, err
	}
	if t.stages, err = readPreTokenizer("pre_tokenizer", f.PreTokenizer); err != nil {
		return nil, err
	}
	t.quick, t.isQuick = quickSplitter(t.stages)
	if err := t.addTokens(f.Added, f.Model.Vocab); err != nil {
		return nil, err
	}
	return t, nil
}

// decode reads JSON into v; path says where data stands. Its errors repeat nothing of
// data: the file may be any, also one with secrets.
func decode(path string, data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at := e.Field
		if path != "" {
			at = path
			if e.Field != "" {
				at += "." + e.Field
			}
		}
		if at == "" {
			at = "file"
		}
		kind, _, _ := strings.Cut(e.Value, " ") // "number 12" has the number
		return invalid(at, "a "+e.Type.String(), "a JSON "+kind)
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("JSON at byte %d: not well-formed", e.Offset) // err shows the byte
	}
	return errors.New("JSON: not well-formed")
}

// given reports whether a member is there and not null.
func given(raw json.RawMessage) bool { return len(raw) > 0 && !bytes.Equal(raw, []byte("null")) }
