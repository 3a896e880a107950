package token

import (
	"errors"
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
)

// Encodings loads a byte-pair encoding by name: that of an embedded vocabulary, or
// the whole id hf:FILE of one that a user brings. Loading is dear and a counter
// loads one each time it is made: the caller keeps what it loaded. bpe.Load is
// an Encodings that keeps nothing.
type Encodings func(name string) (*bpe.Encoding, error)

// ErrNeedsFile says that an estimator is built from a user's file, which the
// core does not read. Package tokenizers builds it; it can then be combined by
// Max.
var ErrNeedsFile = errors.New("needs a tokenizer file, which package tokenizers reads and the program hands in")

// An UnknownError says that there is no estimator of that id.
type UnknownError struct {
	ID      string   // as it was asked for, or the part of a max(...) that is not known
	Nearest string   // the id most like it, or empty
	Known   []string // see EstimatorIDs
}

// Error lists the known ids and the nearest one.
func (e *UnknownError) Error() string {
	text := fmt.Sprintf("token: counter: %.80q, want one of %s", e.ID, strings.Join(e.Known, ", "))
	if e.Nearest != "" {
		text += fmt.Sprintf(" (did you mean %q?)", e.Nearest)
	}
	return text
}

// EstimatorIDs returns the ids that NewCounter knows, with X, A, B and FILE for
// what stands for something else. The slice is the caller's.
func EstimatorIDs() []string {
	return []string{
		"chars/4", "bytes/4", "bytes/4+10", "runes*2/5", "pieces", "approximate", "tiktoken:X",
		"anthropic", "claude:X", "gemini", "google:gemini", "google-gemini", "hf:FILE", "spm:FILE", "max(A,B)",
	}
}

const (
	maxID    = 512 // longest id in bytes
	maxDepth = 8   // how deep max(a,b) may be nested
)

// NewCounter makes the counter of that id; see the package comment. Blanks in a
// max(A,B) do not count. It fails with an *UnknownError, with ErrNeedsFile, or
// with what load fails with. load is asked only for ids that need an encoding.
func NewCounter(id string, load Encodings) (Counter, error) {
	if len(id) > maxID {
		return nil, &UnknownError{ID: id, Known: EstimatorIDs()}
	}
	known, err := catalog.Load()
	if err != nil {
		return nil, fmt.Errorf("token: counter %q: %w", id, err)
	}
	return maker{known, load}.counter(strings.TrimSpace(id), maxDepth)
}

// ForFamily makes the raw counter of a family: the one whose counts a
// Calibration of that family learns from. Media and hidden thinking follow the
// family's rules.
func ForFamily(f catalog.Family, load Encodings) (Counter, error) {
	if e, ok := direct(f.Estimator, load); ok {
		return e.kin(f), nil
	}
	known, err := catalog.Load()
	if err != nil {
		return nil, fmt.Errorf("token: counter of family %q: %w", f.Name, err)
	}
	e, err := maker{known, load}.raw(f)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// direct makes the estimators of families without the catalogue, which takes longer to
// read than many a session: those that need nothing, and those of an encoding's own name.
func direct(id string, load Encodings) (estimator, bool) {
	if e, ok := documented(id); ok {
		return e, true
	}
	name, ok := strings.CutPrefix(id, "tiktoken:")
	if !ok || load == nil {
		return estimator{}, false
	}
	loaded, err := load(name)
	if err != nil || loaded == nil {
		return estimator{}, false // it may be the name of a model
	}
	return byEncoding(id, loaded), true
}

// byEncoding makes the exact counter of an encoding.
func byEncoding(id string, encoding *bpe.Encoding) estimator {
	return estimator{id: id, kind: Exact, unit: bpes, encoding: encoding, num: 1, den: 1, scale: 1000}
}

// A maker makes counters.
type maker struct {
	known catalog.Catalog
	load  Encodings
}

func (k maker) counter(id string, depth int) (Counter, error) {
	if inner, ok := strings.CutPrefix(id, "max("); ok {
		return k.larger(id, inner, depth)
	}
	name, arg, typed := strings.Cut(id, ":")
	switch {
	case name == "tiktoken" && arg != "":
		return k.tiktoken(id, arg)
	case name == "claude" && typed:
		return k.rated(id, "claude", arg)
	case (name == "hf" || name == "spm") && arg != "":
		return k.outside(id)
	}
	if maker, model, ok := ofMaker(id); ok {
		return k.rated(id, maker, model)
	}
	if e, ok := documented(id); ok {
		f, _ := k.known.Family(catalog.UnknownFamily)
		if id != "pieces" {
			f.Signature = 0 // the documents do not count what nobody can read
		}
		return e.of(f), nil
	}
	return nil, unknown(id)
}

// makers returns the ids of estimators that name whose models they are about. Each may be
// followed by a model, as its document says that they are prefixes (R000-19).
func makers() []string { return []string{"google:gemini", "google-gemini", "gemini", "anthropic"} }

// ofMaker returns the maker that an id names and the model behind it, which may be missing.
func ofMaker(id string) (maker, model string, ok bool) {
	for _, maker := range makers() {
		rest, found := strings.CutPrefix(id, maker)
		switch {
		case found && rest == "":
			return maker, "", true
		case !found || len(rest) < 2 || !strings.ContainsRune("-:/", rune(rest[0])):
			continue
		case rest[0] == '-' && maker != "anthropic": // what ends the maker's name begins the model's
			return maker, "gemini" + rest, true
		}
		return maker, rest[1:], true
	}
	return "", "", false
}

// larger makes max(a,b) of what follows the opening bracket.
func (k maker) larger(id, inner string, depth int) (Counter, error) {
	left, right, ok := split(inner)
	if !ok || depth == 0 {
		return nil, unknown(id)
	}
	a, err := k.counter(left, depth-1)
	if err != nil {
		return nil, err
	}
	b, err := k.counter(right, depth-1)
	if err != nil {
		return nil, err
	}
	return Max(a, b), nil
}

// split parts "a,b)" at the comma outside all brackets.
func split(inner string) (a, b string, ok bool) {
	inner, ok = strings.CutSuffix(inner, ")")
	if !ok {
		return "", "", false
	}
	open := 0
	for i := range len(inner) {
		switch inner[i] {
		case '(':
			open++
		case ')':
			open--
		case ',':
			if open == 0 {
				return strings.TrimSpace(inner[:i]), strings.TrimSpace(inner[i+1:]), true
			}
		}
	}
	return "", "", false
}

// documented returns the estimators that need nothing but the text.
func documented(id string) (estimator, bool) {
	e := estimator{id: id, kind: Estimated, num: 1, den: 4, scale: 1000}
	switch id {
	case "chars/4", "approximate":
		e.unit, e.up = utf16s, true
	case "bytes/4":
		e.unit, e.up = bytes, true
	case "bytes/4+10": // R002-3: also ids are part of a block's length
		e.unit = bytes
		e.added = added{block: 10, toolFlat: 30, ids: true}
	case "runes*2/5": // R003-11: ids and the type of a call, which is always "function"
		e.unit, e.num, e.den = runes, 2, 5
		e.added = added{message: 12, section: 20, tool: 20, media: 256, ids: true, callType: "function"}
	case "pieces":
		e.unit, e.up = pieces, true
	default:
		return estimator{}, false
	}
	return e, true
}

// tiktoken makes the counter of an encoding, or of a model's encoding.
func (k maker) tiktoken(id, arg string) (Counter, error) {
	encoding, ok := k.known.EncodingFor(arg)
	if !ok {
		return nil, unknown(id)
	}
	if k.load == nil {
		return nil, fmt.Errorf("token: counter: %q, want a way to load encoding %q, got none", id, encoding)
	}
	loaded, err := k.load(encoding)
	if err != nil {
		return nil, fmt.Errorf("token: counter: %q: %w", id, err)
	}
	if loaded == nil {
		return nil, fmt.Errorf("token: counter: %q, want encoding %q loaded, got none", id, encoding)
	}
	return byEncoding(id, loaded).of(k.known.FamilyOf(arg)), nil
}

// outside makes the counter of a vocabulary that a user brings, which load knows
// by the whole id. Media and hidden thinking are those of an unknown family.
func (k maker) outside(id string) (Counter, error) {
	if k.load == nil {
		return nil, fmt.Errorf("token: counter: %q: %w", id, ErrNeedsFile)
	}
	loaded, err := k.load(id)
	if errors.Is(err, bpe.ErrUnknownEncoding) || err == nil && loaded == nil {
		return nil, fmt.Errorf("token: counter: %q: %w", id, ErrNeedsFile)
	}
	if err != nil {
		return nil, fmt.Errorf("token: counter: %q: %w", id, err)
	}
	return byEncoding(id, loaded).of(k.known.FamilyOf(id)), nil
}

// rated makes a counter that scales a family's raw count by its prior ratio: of
// the family of model, or where none is named or it is not known, of the family of maker.
func (k maker) rated(id, maker, model string) (Counter, error) {
	f := k.known.FamilyOf(model)
	if model == "" || f.Name == catalog.UnknownFamily {
		f = k.known.FamilyOf(maker)
	}
	e, err := k.raw(f)
	if err != nil {
		return nil, err
	}
	e.id, e.kind, e.scale = id, Estimated, f.Prior
	return e, nil
}

// raw makes the unscaled counter of a family.
func (k maker) raw(f catalog.Family) (estimator, error) {
	made, err := k.counter(f.Estimator, 0)
	if err != nil {
		return estimator{}, err
	}
	e, ok := made.(estimator)
	if !ok {
		return estimator{}, fmt.Errorf("token: counter of family %q: estimator %q, want a plain one", f.Name, f.Estimator)
	}
	return e.kin(f), nil
}

// kin returns e as the raw counter of a family.
func (e estimator) kin(f catalog.Family) estimator {
	if f.Prior != 1000 {
		e.kind = Estimated // another family's encoding
	}
	return e.of(f)
}

// of returns e with the media and the hidden thinking of a family.
func (e estimator) of(f catalog.Family) estimator {
	e.image, e.signature, e.signatureSkip = f.Image, f.Signature, f.SignatureSkip
	return e
}
