package openai

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeResponsesResponse reads a response object, or the response.compaction that the
// address /responses/compact answers with. Each item of its output is one part; the user
// messages of a compaction are opaque parts, which are sent back as they are (see
// [DecodeCompacted] for them as messages). The error is a [*wire.Error] for a response
// that failed, else it says what is wrong and where.
func DecodeResponsesResponse(body []byte) (llm.Response, error) {
	r, _, err := readResponses(body)
	if err != nil {
		return llm.Response{}, fmt.Errorf("openai: decode responses response: %w", err)
	}
	return r, nil
}

// DecodeCompacted reads the output of a response.compaction as the messages that the
// next request begins with: what the people said, and the compaction itself.
func DecodeCompacted(body []byte) ([]llm.Message, error) {
	if _, err := raw.CheckObject(body); err != nil {
		return nil, fmt.Errorf("openai: decode compaction: %w", err)
	}
	output := raw.Value(body[raw.Leading(body):], "output")
	if !raw.IsArray(output) {
		return nil, fmt.Errorf("openai: decode compaction: %w", raw.In(raw.Wrong("an array", output), "output"))
	}
	msgs, _, err := decodeInput(raw.NewCursor(output))
	if err != nil {
		return nil, fmt.Errorf("openai: decode compaction: %w", raw.In(err, "output"))
	}
	return msgs, nil
}

// readResponses reads a response object and returns the place of its output too.
func readResponses(body []byte) (r llm.Response, output llm.Span, err error) {
	if _, err := raw.CheckObject(body); err != nil {
		return r, output, err
	}
	lead := raw.Leading(body)
	top := body[lead:]
	v := raw.Values(top, "id", "model", "output", "error", "status")
	if !raw.IsNone(v[3]) && (raw.IsNone(v[2]) || raw.Named(v[4], "failed")) {
		return r, output, DecodeError(0, body)
	}
	if !raw.IsArray(v[2]) {
		return r, output, raw.In(raw.Wrong("an array", v[2]), "output")
	}
	r = llm.Response{ID: raw.Unquote(v[0]), Model: raw.Unquote(v[1]), Dialect: DialectResponses, Raw: body}
	r.Message = llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: DialectResponses}
	var calls waits
	refused := false
	for i, s := range raw.Elements(v[2]) {
		p, err := replyItem(raw.Slice(v[2], s))
		if err != nil {
			return r, output, raw.In(raw.In(err, index(i)), "output")
		}
		r.Message.Parts = append(r.Message.Parts, p)
		calls.add(p)
		refused = refused || refuses(p)
	}
	r.Stop, r.Reason = ending(top, calls, refused)
	r.Usage = responsesUsage(raw.Value(top, "usage"))
	return r, raw.Shift(raw.Spans(top, "output")[0], lead), nil
}

// EncodeResponsesResponse returns the response object of r. A reply that was decoded here
// and not changed gives the very bytes it came as; else only what differs is written
// anew. A reply of another dialect is written from its neutral fields: thinking as
// reasoning items, whose encrypted_content is the signature; hosted calls and what is
// opaque are left out. The error says that Raw is no response object.
func EncodeResponsesResponse(r llm.Response) ([]byte, error) {
	if r.Dialect != DialectResponses || len(r.Raw) == 0 {
		return freshResponse(r), nil
	}
	old, output, err := readResponses(r.Raw)
	if err != nil {
		return nil, fmt.Errorf("openai: encode responses response: %w", err)
	}
	body := r.Raw
	if !sameParts(old.Message.Parts, r.Message.Parts) {
		list := raw.NewList(raw.Slice(body, output), nil)
		body = raw.Replace(body, output, list.With(outputElements(old, r, raw.Slice(body, output))))
	}
	if r.Stop != old.Stop || r.Reason != old.Reason {
		body = withStatus(body, r)
	}
	return withFields(body, old, r, writeResponsesUsage), nil
}

// outputElements returns the items of r, which was read as old from output.
func outputElements(old, r llm.Response, output []byte) []raw.Element {
	w := newWriter(DialectResponses, llm.Message{Role: llm.RoleAssistant, Dialect: DialectResponses})
	each := raw.Elements(output)
	next := 0
	elements := make([]raw.Element, 0, len(r.Message.Parts))
	for i, p := range r.Message.Parts {
		at := slices.IndexFunc(old.Message.Parts[next:], func(o llm.Part) bool {
			return bytes.Equal(o.Bytes(), p.Bytes()) || raw.Base(p) != nil && bytes.Equal(o.Bytes(), raw.Base(p))
		})
		e := raw.Element{At: -1}
		if at >= 0 {
			e.At = next + at
			next = e.At + 1
		}
		if e.At >= 0 && bytes.Equal(old.Message.Parts[e.At].Bytes(), p.Bytes()) {
			e.Bytes = raw.Slice(output, each[e.At])
		} else if e.Bytes = w.modelItem(p).bytes; e.Bytes == nil || raw.Value(e.Bytes, "id") == nil {
			if e.Bytes = newItem(p, partID(r.ID, i)); e.Bytes == nil {
				continue
			}
		}
		elements = append(elements, e)
	}
	return elements
}

// withStatus returns body with the status that r has.
func withStatus(body []byte, r llm.Response) []byte {
	status, why := responsesStatus(r.Stop, r.Reason)
	top := raw.Set(raw.Trim(body), "status", raw.Quote(status))
	return raw.Set(top, "incomplete_details", incompleteDetails(why))
}

func incompleteDetails(why string) []byte {
	if why == "" {
		return []byte("null")
	}
	return new(raw.Object).Text("reason", why).Bytes()
}

// freshResponse returns the body of a reply that came in another dialect, or as a stream.
func freshResponse(r llm.Response) []byte {
	items := [][]byte{}
	for i, p := range r.Message.Parts {
		b := p.Bytes()
		if r.Dialect != DialectResponses || !raw.IsObject(b) {
			b = newItem(p, partID(r.ID, i))
		}
		if b != nil {
			items = append(items, b)
		}
	}
	status, why := responsesStatus(r.Stop, r.Reason)
	head := responseHead{id: r.ID, model: r.Model, status: status, incomplete: why}
	if r.Stop == llm.StopCompaction && r.Dialect == DialectResponses {
		o := new(raw.Object).Text("id", r.ID).Text("object", "response.compaction").Raw("created_at", []byte("0"))
		return o.Raw("output", raw.Array(items)).Raw("usage", writeResponsesUsage(r.Usage)).Bytes()
	}
	return head.object(items, writeResponsesUsage(r.Usage))
}

// partID returns what the ids of part n of a reply end with.
func partID(reply string, n int) string {
	return strings.TrimPrefix(cmp.Or(reply, "0"), "resp_") + "_" + strconv.Itoa(n)
}

// A responseHead is what a response object says beside its output.
type responseHead struct{ id, model, status, incomplete string }

// object returns the response object: with every member that its readers demand
// (openai-python and openai-go, type Response), the values being those of a request that
// states nothing.
func (h responseHead) object(items [][]byte, usage []byte) []byte {
	null := []byte("null")
	o := new(raw.Object).Text("id", cmp.Or(h.id, "resp_0")).Text("object", "response").Raw("created_at", []byte("0"))
	o.Text("status", h.status).Raw("background", []byte("false")).Raw("error", null).Raw("incomplete_details", incompleteDetails(h.incomplete))
	o.Raw("instructions", null).Raw("max_output_tokens", null).Text("model", h.model).Raw("output", raw.Array(items))
	o.Raw("parallel_tool_calls", []byte("true")).Raw("previous_response_id", null)
	o.Raw("reasoning", []byte(`{"effort":null,"summary":null}`)).Raw("store", []byte("false"))
	o.Raw("temperature", []byte("1")).Raw("text", []byte(`{"format":{"type":"text"}}`)).Text("tool_choice", "auto")
	o.Raw("tools", []byte("[]")).Raw("top_p", []byte("1")).Text("truncation", "disabled").Raw("usage", usage)
	return o.Raw("user", null).Raw("metadata", []byte("{}")).Bytes()
}
