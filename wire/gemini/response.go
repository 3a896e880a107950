package gemini

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/pair"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeResponse reads the reply of generateContent: its first candidate. The response
// holds body itself, which nobody may write to from here on. A prompt that was blocked is
// a reply without parts. The error says that body is not JSON or no reply; a body that is
// an error of the provider is returned as a [wire.Error].
func DecodeResponse(body []byte) (llm.Response, error) {
	if _, err := raw.CheckObject(body); err != nil {
		return llm.Response{}, fmt.Errorf("gemini: decode response: %w", err)
	}
	reply, err := readReply(body)
	if err != nil {
		return llm.Response{}, err
	}
	return reply.response, nil
}

// A reply is a response and where its pieces lie in the body. Places that are not there
// are of zero length.
type reply struct {
	response  llm.Response
	object    llm.Span     // the reply, without what wraps it
	candidate llm.Span     // within the body, as all of them
	content   llm.Span     // the content of the candidate
	message   llm.Envelope // of the parts in the content
}

func readReply(body []byte) (reply, error) {
	c := raw.NewCursor(body)
	x := reply{object: c.Skip(c.Pos())}
	if wrapped := memberPlace(body, x.object, "response"); wrapped.Len() > 0 && body[wrapped.Start] == '{' {
		x.object = wrapped
	}
	obj := raw.Slice(body, x.object)
	v := raw.Values(obj, "candidates", "promptFeedback", "usageMetadata", "modelVersion", "responseId", "error")
	if raw.IsObject(v[5]) {
		return x, DecodeError(0, body)
	}
	if v[0] == nil && v[1] == nil && v[2] == nil {
		return x, errors.New("gemini: decode response: want candidates or promptFeedback, got neither")
	}
	r := &x.response
	r.Dialect, r.Raw = Dialect, body
	r.ID, r.Model, r.Usage = raw.Unquote(v[4]), raw.Unquote(v[3]), usageOf(v[2])
	r.Message = llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: Dialect}
	if err := x.readCandidate(body); err != nil {
		return x, fmt.Errorf("gemini: decode response: %w", raw.In(err, "candidates"))
	}
	if blocked := raw.Unquote(raw.Value(v[1], "blockReason")); blocked != "" && r.Reason == "" {
		r.Stop, r.Reason = llm.StopRefusal, blocked
	}
	return x, nil
}

// readCandidate reads the candidate with the index 0, else the first one.
func (x *reply) readCandidate(body []byte) error {
	list := memberPlace(body, x.object, "candidates")
	value := raw.Slice(body, list)
	if raw.IsNone(value) {
		return nil
	}
	if !raw.IsArray(value) {
		return raw.Wrong("an array", value)
	}
	for i, s := range raw.Elements(value) {
		b := raw.Slice(value, s)
		if !raw.IsObject(b) {
			return raw.In(raw.Wrong("an object", b), "["+strconv.Itoa(i)+"]")
		}
		index, _ := raw.Int(raw.Value(b, "index"))
		if x.candidate.Len() == 0 || index == 0 {
			x.candidate = raw.Shift(s, list.Start)
		}
		if index == 0 {
			break
		}
	}
	if x.candidate.Len() == 0 {
		return nil
	}
	x.content = memberPlace(body, x.candidate, "content")
	content := raw.Slice(body, x.content)
	r := &x.response
	if raw.IsObject(content) {
		m, _, err := decodeMessage(raw.NewCursor(content), &pair.Calls{})
		if err != nil {
			return raw.In(err, "content")
		}
		r.Message.Parts, x.message = m.Parts, m.Envelope
	}
	r.Reason = raw.Unquote(raw.Value(raw.Slice(body, x.candidate), "finishReason"))
	r.Stop, _ = stopOf(r.Reason, len(r.Message.Calls()) > 0)
	return nil
}

// memberPlace returns the place in body of a member of the object at s.
func memberPlace(body []byte, s llm.Span, name string) llm.Span {
	_, at := raw.Member(raw.Slice(body, s), name)
	if at.Len() == 0 {
		return llm.Span{}
	}
	return raw.Shift(at, s.Start)
}

// stopOf returns what a finishReason means, and whether it is known (genai v1.77 types).
func stopOf(reason string, calls bool) (llm.Stop, bool) {
	switch reason {
	case "STOP":
		if calls {
			return llm.StopTool, true
		}
		return llm.StopEnd, true
	case "MAX_TOKENS":
		return llm.StopLength, true
	case "CONTINUATION":
		return llm.StopPause, true
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return llm.StopRefusal, true
	case "OTHER", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "NO_IMAGE", "IMAGE_OTHER",
		"MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE":
		return llm.StopUnknown, true
	}
	return llm.StopUnknown, false
}

// reasonOf returns the finishReason that says stop: the given one, if it does.
func reasonOf(stop llm.Stop, reason string) string {
	if means, known := stopOf(reason, stop == llm.StopTool); known && means == stop {
		return reason
	}
	switch stop {
	case llm.StopEnd, llm.StopTool, llm.StopSequence:
		return "STOP"
	case llm.StopLength, llm.StopWindow:
		return "MAX_TOKENS"
	case llm.StopPause, llm.StopCompaction:
		return "STOP"
	case llm.StopRefusal:
		return "SAFETY"
	}
	return "OTHER"
}

// isBlockReason reports whether reason says why a prompt was blocked (genai v1.77 types).
func isBlockReason(reason string) bool {
	switch reason {
	case "SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY", "MODEL_ARMOR", "JAILBREAK":
		return true
	}
	return false
}

// usageOf reads usageMetadata. The prompt includes what was read from the cache; what tools
// of the provider added to the prompt is beside it, and thoughts are beside the candidates.
func usageOf(meta []byte) llm.Usage {
	var prompt, cached, tools, candidates, thoughts int
	for k, v := range raw.Members(meta) {
		n, ok := raw.Int(meta[v.Start:v.End])
		if !ok || n < 0 {
			continue
		}
		switch string(raw.Name(meta[k.Start:k.End])) {
		case "promptTokenCount":
			prompt = n
		case "cachedContentTokenCount":
			cached = n
		case "toolUsePromptTokenCount":
			tools = n
		case "candidatesTokenCount":
			candidates = n
		case "thoughtsTokenCount":
			thoughts = n
		}
	}
	return llm.Usage{Input: max(prompt-cached, 0) + tools, CacheRead: cached, Output: candidates + thoughts, Reasoning: thoughts}
}

// withUsage returns usageMetadata that reports u. What tools added to the prompt is told
// with the prompt.
func withUsage(meta []byte, u llm.Usage) []byte {
	out := meta
	if !raw.IsObject(out) {
		out = []byte("{}")
	}
	put := func(name string, n int) {
		if n > 0 || raw.Value(out, name) != nil {
			out = raw.Set(out, name, strconv.AppendInt(nil, int64(n), 10))
		}
	}
	out = raw.Delete(out, "toolUsePromptTokenCount")
	out = raw.Set(out, "promptTokenCount", strconv.AppendInt(nil, int64(u.Prompt()), 10))
	put("cachedContentTokenCount", u.CacheRead)
	out = raw.Set(out, "candidatesTokenCount", strconv.AppendInt(nil, int64(max(u.Output-u.Reasoning, 0)), 10))
	put("thoughtsTokenCount", u.Reasoning)
	return raw.Set(out, "totalTokenCount", strconv.AppendInt(nil, int64(u.Total()), 10))
}

// EncodeResponse returns the body of r. A response that was decoded here and not changed
// gives the very bytes (the same slice) that it was decoded from; else only what differs
// is written anew. A response without its body is written from the start, with all that
// readers of the format insist on. The error says that r.Raw is not the body of a reply.
func EncodeResponse(r llm.Response) ([]byte, error) {
	if r.Dialect != Dialect || len(r.Raw) == 0 {
		return freshReply(r), nil
	}
	if _, err := raw.CheckObject(r.Raw); err != nil {
		return nil, fmt.Errorf("gemini: encode response: %w", err)
	}
	x, err := readReply(r.Raw)
	if err != nil {
		return nil, fmt.Errorf("gemini: encode response: %w", err)
	}
	old := x.response
	obj := raw.Slice(r.Raw, x.object)
	if b, changed := x.candidateOf(r); changed {
		if x.candidate.Len() > 0 {
			obj = raw.Replace(obj, raw.Shift(x.candidate, -x.object.Start), b)
		} else {
			obj = raw.Set(obj, "candidates", raw.Array([][]byte{b}))
		}
	}
	if r.ID != old.ID {
		obj = raw.Set(obj, "responseId", raw.Quote(r.ID))
	}
	if r.Model != old.Model {
		obj = raw.Set(obj, "modelVersion", raw.Quote(r.Model))
	}
	if r.Usage != old.Usage {
		obj = raw.Set(obj, "usageMetadata", withUsage(raw.Value(obj, "usageMetadata"), r.Usage))
	}
	if len(obj) == x.object.Len() && &obj[0] == &r.Raw[x.object.Start] {
		return r.Raw, nil
	}
	return raw.Replace(r.Raw, x.object, obj), nil
}

// candidateOf returns the candidate with the parts and the end of r, and whether they are
// others than before.
func (x *reply) candidateOf(r llm.Response) ([]byte, bool) {
	body := x.response.Raw
	b := raw.Slice(body, x.candidate)
	changed := false
	if content, other := x.contentOf(r.Message); other {
		if b == nil || x.candidate.Len() == 0 {
			b = []byte(`{"index":0}`)
		}
		b, changed = raw.Set(b, "content", content), true
	}
	if r.Stop != x.response.Stop || r.Reason != x.response.Reason {
		if x.candidate.Len() == 0 && !changed {
			b = []byte(`{"index":0}`)
		}
		b, changed = raw.Set(b, "finishReason", raw.Quote(reasonOf(r.Stop, r.Reason))), true
	}
	return b, changed
}

func (x *reply) contentOf(m llm.Message) ([]byte, bool) {
	old := raw.Slice(x.response.Raw, x.content)
	all := blocks(m, nil)
	own := true
	for i := range all {
		if all[i].kind == foreignCall {
			all[i].kind, own = callBlock, false // a reply needs no signature that skips a check
		}
	}
	if len(m.Parts) == len(x.response.Message.Parts) {
		if len(m.Parts) == 0 {
			return nil, false
		}
		m.Envelope = x.message
		if m.Dialect == Dialect && raw.Untouched(m) {
			return nil, false
		}
		if b := patch(m, nil); b != nil && own {
			return b, true
		}
	}
	fresh := content("model", all)
	if !raw.IsObject(old) {
		return fresh, true
	}
	return raw.Set(old, "parts", raw.Value(fresh, "parts")), true
}

func freshReply(r llm.Response) []byte {
	var values [][]byte
	native := r.Dialect == Dialect
	for _, p := range r.Message.Parts {
		if b := replyPart(p, native); b != nil {
			values = append(values, b)
		}
	}
	content := new(raw.Object).Raw("parts", raw.Array(values)).Text("role", "model").Bytes()
	candidate := new(raw.Object).Raw("content", content)
	candidate.Text("finishReason", reasonOf(r.Stop, r.Reason)).Raw("index", []byte("0"))
	o := new(raw.Object)
	if r.Stop == llm.StopRefusal && len(values) == 0 && isBlockReason(r.Reason) {
		o.Raw("promptFeedback", new(raw.Object).Text("blockReason", r.Reason).Bytes())
	} else {
		o.Raw("candidates", raw.Array([][]byte{candidate.Bytes()}))
	}
	o.Raw("usageMetadata", withUsage(nil, r.Usage)).Text("modelVersion", r.Model)
	return o.Text("responseId", cmp.Or(r.ID, "response")).Bytes()
}

// replyPart returns p as a part of a reply, whole; nil if there is nothing to say.
func replyPart(p llm.Part, native bool) []byte {
	if native && raw.IsObject(p.Bytes()) {
		return p.Bytes()
	}
	switch p := p.(type) {
	case llm.Text:
		return textPart(p.Text)
	case llm.Stub:
		return textPart(p.Text)
	case llm.Thinking:
		return thought(p.Text, p.Signature)
	case llm.ToolCall:
		if !p.Hosted {
			return callPart(p, p.CallID)
		}
	case llm.Media:
		return mediaPart(p)
	}
	return nil
}

// thought returns a thought. A signature that is not base64, as the format has it, would
// break readers and is left out.
func thought(text, signature string) []byte {
	o := new(raw.Object).Text("text", text).Raw("thought", []byte("true"))
	if isBase64(signature) {
		o.Text(nameSignature.camel, signature)
	}
	return o.Bytes()
}

func isBase64(s string) bool {
	if s == "" || len(s)%4 != 0 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/'
		if !letter && (c != '=' || i < len(s)-2) {
			return false
		}
	}
	return true
}
