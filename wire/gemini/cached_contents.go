package gemini

import (
	"crypto/sha256"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// A Beginning is what a resource of cachedContents holds of a request: its system instruction,
// its tools and its first contents, each with the bytes that it has in the body. A request that
// names the resource may have none of them.
type Beginning struct {
	System, Tools []byte
	Contents      [][]byte
}

// Contents returns how many elements the contents of a body have that are written of the first
// messages of r, and whether the body begins with just these.
func Contents(r llm.Request, body []byte, messages int) (int, bool) {
	if messages == 0 {
		return 0, true
	}
	if messages > len(r.Messages) {
		return 0, false
	}
	r.Messages = r.Messages[:messages:messages]
	head, err := EncodeRequest(r)
	if err != nil {
		return 0, false
	}
	list := raw.Value(head, "contents")
	n := len(raw.Elements(list))
	a, whole := BeginningOf(head, n)
	b, ok := BeginningOf(body, n)
	return n, whole && ok && a.Sum() == b.Sum()
}

// BeginningOf returns the beginning of a body with so many contents. It is false where the body
// has no more than these, or something that only a whole request can have: a resource of its
// own, or a choice of tools.
func BeginningOf(body []byte, contents int) (Beginning, bool) {
	v := raw.Values(body, nameSystem.camel, "tools", "contents", nameToolConfig.camel, nameKept.camel)
	each := raw.Elements(v[2])
	if len(each) < contents || !raw.IsNone(v[3]) || !raw.IsNone(v[4]) {
		return Beginning{}, false
	}
	b := Beginning{System: v[0], Tools: v[1]}
	for _, at := range each[:contents] {
		b.Contents = append(b.Contents, raw.Slice(v[2], at))
	}
	return b, true
}

// Sum returns what tells b from any other beginning.
func (b Beginning) Sum() llm.Digest {
	h := sha256.New()
	for _, piece := range append([][]byte{b.System, b.Tools}, b.Contents...) {
		h.Write(strconv.AppendInt(nil, int64(len(piece)), 10))
		h.Write([]byte{' '})
		h.Write(piece)
	}
	return llm.Digest(h.Sum(nil))
}

// Resource returns the body that makes a resource of b for a model, which is kept for so many
// seconds.
func (b Beginning) Resource(model string, seconds int) []byte {
	o := new(raw.Object).Text("model", "models/"+strings.TrimPrefix(model, "models/"))
	if !raw.IsNone(b.System) {
		o.Raw(nameSystem.camel, b.System)
	}
	if !raw.IsNone(b.Tools) {
		o.Raw("tools", b.Tools)
	}
	if len(b.Contents) > 0 {
		o.Raw("contents", raw.Array(b.Contents))
	}
	return o.Text("ttl", strconv.Itoa(seconds)+"s").Bytes()
}

// Lifetime returns the body that keeps a resource for so many seconds from now on.
func Lifetime(seconds int) []byte {
	return new(raw.Object).Text("ttl", strconv.Itoa(seconds)+"s").Bytes()
}

// Naming returns a body of which the beginning with so many contents is left out, and that names
// the resource which holds it. It is false where nothing would be left.
func Naming(body []byte, contents int, resource string) ([]byte, bool) {
	o := new(raw.Object).Text(nameKept.camel, resource)
	left := false
	for k, v := range raw.Members(body) {
		value := raw.Slice(body, v)
		switch raw.Unquote(raw.Slice(body, k)) {
		case nameSystem.camel, "tools":
		case "contents":
			each := raw.Elements(value)
			if len(each) <= contents {
				return nil, false
			}
			left = true
			rest := make([][]byte, 0, len(each)-contents)
			for _, at := range each[contents:] {
				rest = append(rest, raw.Slice(value, at))
			}
			o.Raw("contents", raw.Array(rest))
		default:
			o.Member(body[k.Start:v.End])
		}
	}
	return o.Bytes(), left
}

// DecodeResource reads what was answered when a resource was made: its name, and how many tokens
// it holds. It is false where the answer has no name that can stand in an address.
func DecodeResource(body []byte) (name string, tokens int, ok bool) {
	name = raw.Unquote(raw.Value(body, "name"))
	tokens, _ = raw.Int(raw.Value(raw.Value(body, "usageMetadata"), "totalTokenCount"))
	id, ok := strings.CutPrefix(name, "cachedContents/")
	if !ok || id == "" || strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
		return "", 0, false
	}
	return name, max(tokens, 0), true
}
