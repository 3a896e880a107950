package gateway

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
)

// mostID is how long an id may be that a client states, in bytes. A longer one is none.
const mostID = 512

// idHeaders are the headers in which clients state what conversation a request belongs
// to, in order of trust. A header of a pair narrows the one before it: one agent of a
// session that has several. Sources: the clients' documentation and requests that were
// recorded (Claude Code, Codex, opencode, crush, pi, Cline).
var idHeaders = [][]string{
	{"X-Plimsoll-Session"},
	{"X-Claude-Code-Session-Id", "X-Claude-Code-Agent-Id"},
	{"Thread-Id"},
	{"X-Opencode-Session"},
	{"X-Session-Affinity"},
	{"X-Session-Id"},
	{"X-Task-Id"},
	{"Session-Id"},
	{"Session_id"},
	{"Conversation_id"},
}

// statedID returns the id that the client states, in its headers or in its body; empty if
// it states none.
func statedID(c Call) string {
	if id := headerID(c); id != "" {
		return id
	}
	return bodyID(c.Body)
}

// headerID returns the id that the client states in its headers; empty if it states none.
func headerID(c Call) string {
	for _, names := range idHeaders {
		id := c.header(names[0])
		if id == "" || len(id) > mostID {
			continue
		}
		for _, more := range names[1:] {
			id += "\x00" + c.header(more)
		}
		return strings.ToLower(names[0]) + "\x00" + id
	}
	return ""
}

// bodyID returns the session part of metadata.user_id: a JSON text with session_id, or
// the older user_…_session_….
func bodyID(body []byte) string {
	user := gjson.GetBytes(body, "metadata.user_id").String()
	if user == "" || len(user) > mostID {
		return ""
	}
	if gjson.Valid(user) {
		if id := gjson.Get(user, "session_id").String(); id != "" {
			return "user_id\x00" + id
		}
		return ""
	}
	if _, id, ok := strings.Cut(user, "_session_"); ok && id != "" {
		return "user_id\x00" + id
	}
	return ""
}

// familyName names the conversations that a request may go on with. The digest of the
// first message stands for an id where the client states none.
func familyName(c Call, first llm.Digest) string {
	id := statedID(c)
	if id == "" {
		id = "first\x00" + string(first[:])
	}
	return nameOf(c.Owner, c.Provider, string(c.Dialect), id)
}

// nameOf returns the name in the store of what belongs to all of parts: a hash, so that
// nothing that a client states is a part of a name, and each part counts as a whole.
func nameOf(parts ...string) string {
	h := sha256.New()
	for _, s := range parts {
		var n [binary.MaxVarintLen64]byte
		h.Write(n[:binary.PutUvarint(n[:], uint64(len(s)))])
		h.Write([]byte(s))
	}
	return "gateway/" + strings.ToLower(base32.StdEncoding.EncodeToString(h.Sum(nil))[:26])
}

// A frame is what stands around the messages of a request, by which agents are told
// apart that begin with the same words.
type frame struct {
	system, tools [sha256.Size]byte
	bare          bool // no tools
}

func frameOf(sections []llm.Section, tools []llm.Tool) frame {
	system, names := sha256.New(), sha256.New()
	for _, s := range sections {
		if s.Kind == llm.SectionSystem {
			system.Write([]byte(s.Text))
			system.Write([]byte{0})
		}
	}
	f := frame{bare: true}
	for _, t := range tools {
		if t.Builtin {
			continue // none of the client's
		}
		f.bare = false
		names.Write([]byte(t.Name))
		names.Write([]byte{0})
	}
	system.Sum(f.system[:0])
	names.Sum(f.tools[:0])
	return f
}

// kin reports whether two requests may be of one agent.
func (f frame) kin(o frame) bool {
	return f.system == o.system || !f.bare && f.tools == o.tools
}

// digestOf names a message. Of what the model said it does not matter into how many texts a
// client cuts it: some make one of all that follow each other. Nor does it matter where a client
// marks for the cache.
func digestOf(m llm.Message) llm.Digest {
	m = anthropic.Unmarked(m)
	if m.Role == llm.RoleAssistant {
		m.Parts = oneText(m.Parts)
	}
	return llm.DigestOf(m)
}

// oneText returns parts, of which texts that follow each other are one.
func oneText(parts []llm.Part) []llm.Part {
	var out []llm.Part
	for _, p := range parts {
		t, text := p.(llm.Text)
		var before llm.Text
		if len(out) > 0 {
			before, _ = out[len(out)-1].(llm.Text)
		}
		switch {
		case !text || before.Text == "":
			out = append(out, p)
		default:
			out[len(out)-1] = llm.Text{Text: before.Text + t.Text}
		}
	}
	return out
}

// chain returns the digest of each beginning of msgs: chain[i] names msgs[:i+1].
func chain(msgs []llm.Message) []llm.Digest {
	out := make([]llm.Digest, len(msgs))
	var at llm.Digest
	for i, m := range msgs {
		at = llm.Chain(at, digestOf(m))
		out[i] = at
	}
	return out
}

// common returns how many messages two conversations have in common from the first on.
func common(a, b []llm.Digest) int {
	for n := min(len(a), len(b)); n > 0; n-- {
		if a[n-1] == b[n-1] {
			return n
		}
	}
	return 0
}
