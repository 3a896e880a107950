package codecs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/ollama"
)

// An Encoded is the body of a request in one dialect, and what reads the reply to it.
type Encoded struct {
	JSON    []byte          // nobody may write to it
	Losses  []convert.Loss  // what the dialect or the model does not take; empty if nothing was lost
	Aliases convert.Aliases // names and ids that stand for others in JSON; Reply restores them
	Betas   []string        // values that the header anthropic-beta needs for JSON; mostly none

	codec Full
}

// Members are members of a body that a neutral request does not have, such as thinking or
// metadata: what encoding/json makes of the values.
type Members map[string]any

// Body returns the body of r in the dialect d, for a program that sends it with a
// provider's SDK. What the dialect or the model does not take is mended, as package
// convert does it. The stream's settings are written if r asks for a stream
// ([llm.Request.Streamed]). What more has stands in the body as well; thinking that is
// turned on there is asked to be dropped where an edit has broken it.
func Body(r llm.Request, d llm.Dialect, more ...Members) (Encoded, error) {
	codec, ok := For(d)
	if !ok {
		var names []string
		for _, c := range All() {
			names = append(names, string(c.Dialect()))
		}
		return Encoded{}, fmt.Errorf("codecs: body: dialect, want one of %s, got %q", strings.Join(names, ", "), d)
	}
	if r.Model == "" {
		return Encoded{}, fmt.Errorf("codecs: body: model, want its name (budget.Target.Model, llm.Request.Model), got none")
	}
	t, err := known()
	if err != nil {
		return Encoded{}, fmt.Errorf("codecs: body: %w", err)
	}
	dialect, _ := t.models.Dialect(d)
	model, ok := t.models.Lookup(r.Model)
	if !ok {
		model.ID = r.Model
	}
	fit := convert.Request(r, dialect, convert.Options{Refused: t.refusals.Of(d, model)})
	out := Encoded{Losses: fit.Losses, Aliases: fit.Aliases, codec: codec}
	if dialect.Name == anthropic.Dialect {
		out.Betas = anthropic.Betas(fit.Request)
	}
	if out.JSON, err = codec.EncodeRequest(fit.Request); err == nil {
		err = out.add(more, r.Settings.DropBrokenThinking)
	}
	if err != nil {
		return Encoded{}, fmt.Errorf("codecs: body: %w", err)
	}
	return out, nil
}

// add puts members into the body, in the order of their names, so that the same ones
// always give the same bytes. What asks to drop broken thinking depends on them.
func (e *Encoded) add(more []Members, drop bool) error {
	for _, members := range more {
		for _, name := range slices.Sorted(maps.Keys(members)) {
			value, err := json.Marshal(members[name])
			if err != nil {
				return fmt.Errorf("member %s: %w", name, err)
			}
			e.JSON = raw.Set(e.JSON, name, value)
		}
	}
	if len(more) == 0 || !drop || e.codec.Dialect() != anthropic.Dialect {
		return nil
	}
	r, err := e.codec.DecodeRequest(e.JSON)
	if err != nil {
		return err
	}
	r.Settings.DropBrokenThinking = true
	for _, beta := range anthropic.Betas(r) {
		if !slices.Contains(e.Betas, beta) {
			e.Betas = append(e.Betas, beta)
		}
	}
	e.JSON, err = e.codec.EncodeRequest(r)
	return err
}

// Members returns JSON as a map, for an SDK that takes no bytes. Numbers keep their digits.
func (e Encoded) Members() (Members, error) {
	var members Members
	d := json.NewDecoder(bytes.NewReader(e.JSON))
	d.UseNumber()
	if err := d.Decode(&members); err != nil {
		return nil, fmt.Errorf("codecs: members: %w", err)
	}
	return members, nil
}

// Reply reads the body of the reply that was not streamed, with the names and ids that the
// conversation has.
func (e Encoded) Reply(body string) (llm.Response, error) {
	r, err := e.codec.DecodeResponse([]byte(body))
	if err != nil {
		return llm.Response{}, fmt.Errorf("codecs: reply: %w", err)
	}
	return e.Aliases.Restore(r), nil
}

// Stream returns what gathers a streamed reply.
func (e Encoded) Stream() *Stream { return &Stream{body: e, decoder: e.codec.NewDecoder()} }

// A Stream gathers the events of a streamed reply. It is used by one goroutine.
type Stream struct {
	body    Encoded
	decoder wire.Decoder
	reply   wire.Reply
	err     error
}

// Add takes the JSON of the next event, as an SDK hands it out. What is wrong with it
// [Stream.Reply] tells.
func (s *Stream) Add(event string) {
	if s.err == nil {
		// Between the members of a JSON text a new line is nothing but space.
		s.gather(s.decoder.Feed(s.framed(strings.NewReplacer("\n", " ", "\r", " ").Replace(event))))
	}
}

func (s *Stream) framed(event string) []byte {
	if s.body.codec.Dialect() == ollama.Dialect {
		return []byte(event + "\n")
	}
	return []byte("data: " + event + "\n\n")
}

func (s *Stream) gather(events []llm.Event, err error) {
	for _, e := range events {
		s.reply.Add(e)
	}
	s.err = err
}

// Reply returns the whole reply once no event is left, with the names and ids that the
// conversation has. The error of a stream that was cut matches [wire.ErrCut].
func (s *Stream) Reply() (llm.Response, error) {
	if s.err == nil {
		s.gather(s.decoder.Close())
	}
	if s.err != nil {
		return llm.Response{}, fmt.Errorf("codecs: stream: %w", s.err)
	}
	return s.body.Aliases.Restore(s.reply.Response(s.body.codec.Dialect())), nil
}

// tables are the embedded ones about dialects and models.
type tables struct {
	models   catalog.Catalog
	refusals catalog.Refusals
}

// known reads them at the first body: they never change, and it takes a millisecond.
var known = sync.OnceValues(func() (t tables, err error) {
	if t.models, err = catalog.Load(); err == nil {
		t.refusals, err = catalog.LoadRefusals()
	}
	return t, err
})
