package crosscheck

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
)

// A sight is a request as a provider sees it.
type sight struct {
	send     *engine.Send
	place    *place
	request  llm.Request
	body     string
	messages []llm.Message
	tokens   int // that it has at least
	images   int
	journal  map[edit.ID]bool // edits that were made by then
	back     map[edit.ID]bool // notes that may stand again: in a fork, which lacks what took their place
}

// look writes a request in its dialect and counts it.
func (r *run) look(a *actor, s *engine.Send) *sight {
	i := slices.IndexFunc(r.places, func(p *place) bool { return p.target.Name() == s.Target.Name() })
	if i < 0 {
		r.fail("law 1", "a request to %s, which is no target", s.Target.Name())
	}
	p := r.places[i]
	v := &sight{send: s, place: p, request: s.Request(), journal: map[edit.ID]bool{}}
	for _, e := range a.s.Edits() {
		v.journal[e.ID] = true
	}
	v.messages = v.request.Messages
	v.body = r.write(p, v.request)
	v.tokens = r.w.count.request(p.old, v.request)
	for _, m := range v.messages {
		v.images += images(m.Parts)
	}
	return v
}

func images(parts []llm.Part) int {
	n := 0
	for _, p := range parts {
		switch p := p.(type) {
		case llm.Media:
			n++
		case llm.ToolResult:
			n += images(p.Content)
		}
	}
	return n
}

// write returns the body of a request.
func (r *run) write(p *place, q llm.Request) string {
	codec, ok := codecs.For(p.dialect)
	known, found := r.w.known.Dialect(p.dialect)
	if !ok || !found {
		r.t.Fatalf("no dialect %s", p.dialect)
	}
	body, err := codec.EncodeRequest(convert.Request(q, known, convert.Options{}).Request)
	if err != nil {
		r.fail("law 3", "encode: %v", err)
	}
	return string(body)
}

// judge holds a request of the main session against all laws.
func (r *run) judge(v *sight) {
	r.counts.sends++
	r.note("  at least %d tokens, %d messages, %d images, %d bytes", v.tokens, len(v.messages), v.images, len(v.body))
	edits := r.main.s.Edits()
	r.counts.edits += len(edits) - r.edits
	if n := len(edits) - r.edits; n > 3*len(r.said)+40 {
		r.fail("law 1", "%d edits before one request of %d messages", n, len(r.said))
	}
	r.fits(v)
	r.rules(v)
	r.kept(v, edits)
	r.sticky(v, edits)
	r.pins(v)
	r.empty(v)
	r.idle(v, edits)
	r.sent, r.edits, r.anew = v, len(edits), false
	r.again()
}

// fits is law 1.
func (r *run) fits(v *sight) {
	s, p := v.send, v.place
	if s.StillOver {
		if r.policy.OnFloor != policy.FloorSend {
			r.fail("law 1", "still over under a policy that says error")
		}
		return
	}
	if !r.policy.Backstop {
		return
	}
	if s.Limit > p.most(r.policy.Window) {
		r.fail("law 1", "the limit of %s is %d, want at most %d", p.name, s.Limit, p.most(r.policy.Window))
	}
	if n := p.limit(r.policy.Window); n > 0 && p.refused == 0 && s.Limit != n {
		r.fail("law 1", "the limit of %s is %d, want %d", p.name, s.Limit, n)
	}
	if s.Count.Bound > s.Limit {
		r.fail("law 1", "a count of %v, limit %d", s.Count, s.Limit)
	}
	if !p.lied && p.exact && v.tokens > s.Limit {
		r.fail("law 1", "at least %d tokens to %s, limit %d, count %v", v.tokens, p.name, s.Limit, s.Count)
	}
	if s.Count.Kind == token.Exact && v.tokens > s.Count.Bound {
		r.fail("law 9", "exactly %d tokens, but there are at least %d", s.Count.Bound, v.tokens)
	}
	if !p.lied && p.exact && v.tokens > s.Count.Bound {
		r.fail("law 9", "a bound of %d, but there are at least %d", s.Count.Bound, v.tokens)
	}
	w := p.target.Window
	if w.MaxBytes > 0 && len(v.body) > w.MaxBytes {
		r.fail("law 1", "%d bytes to %s, which takes %d", len(v.body), p.name, w.MaxBytes)
	}
	if w.MaxImages > 0 && v.images > w.MaxImages {
		r.fail("law 1", "%d images to %s, which takes %d", v.images, p.name, w.MaxImages)
	}
	if got := r.main.s.Usage(); got.Target.Name() == s.Target.Name() && got.Count != s.Count {
		r.fail("law 1", "usage says %v of a request with %v", got.Count, s.Count)
	}
}

// rules is law 3, and what else a provider would refuse that the conversation as it was said does not break.
func (r *run) rules(v *sight) {
	o := check.Options{Model: v.place.name}
	faults := o.Request(v.place.dialect, []byte(v.body))
	if len(faults) == 0 {
		return
	}
	whole := v.request
	whole.Messages, whole.Sections, whole.Tools = r.said, r.sections, r.tools
	excused := map[string]bool{}
	for _, f := range o.Request(v.place.dialect, []byte(r.write(v.place, whole))) {
		excused[f.Rule] = true
	}
	for _, f := range faults {
		if !excused[f.Rule] {
			r.fail("law 3", "%s %s: %s", f.Rule, f.Path, f.Message)
		}
	}
}

// again looks at the same figures twice: nothing may change by looking.
func (r *run) again() {
	if r.odds(4) {
		if a, b := r.figures(r.main), r.figures(r.main); a != b {
			r.fail("law 10", "usage: %s", difference(b, a))
		}
	}
}

// pins is law 8, of the preset balanced and what keeps its pins.
func (r *run) pins(v *sight) {
	if r.policy.Name == "balanced" || r.policy.Name == "own-balanced" {
		if !slices.Equal(texts(v.request.Sections, len(r.sections)), texts(r.sections, len(r.sections))) {
			r.fail("law 8", "the system prompt is not as it was set: %q", texts(v.request.Sections, len(r.sections)))
		}
		set, own := v.send.Tools, []llm.Tool(nil) // the request has cache marks on them
		if i := slices.IndexFunc(set, func(t llm.Tool) bool { return t.Builtin }); i >= 0 {
			set, own = set[:i], set[i:]
		}
		if v.send.Final == engine.ReasonNone && fmt.Sprint(set) != fmt.Sprint(r.tools) {
			r.fail("law 8", "the tools are not as they were set")
		}
		if offers := r.seed%3 > 0; v.send.Final == engine.ReasonNone && offers != (len(own) > 0) {
			r.fail("law 8", "the policy's own tools, want them offered: %t, got %v", offers, own)
		}
	}
	last := -1
	for i, m := range r.said {
		if m.Origin == llm.Human {
			last = i
		}
	}
	first := true
	for i, m := range r.said {
		pinned := m.Flags.Has(llm.FlagRules) && slices.Contains(r.policy.Pins, policy.PinRules)
		if m.Origin == llm.Human {
			pinned = pinned || first && slices.Contains(r.policy.Pins, policy.PinFirstHuman) || i == last && slices.Contains(r.policy.Pins, policy.PinLastHuman)
			first = false
		}
		if !pinned {
			continue
		}
		at := slices.IndexFunc(v.messages, func(n llm.Message) bool { return n.ID == m.ID })
		if at < 0 && r.fromParent(m.ID) {
			continue // what the parent has sent holds in a fork, whose last words are others (law 5)
		}
		if at < 0 {
			r.fail("law 8", "message %d is pinned and does not stand there", m.ID)
		}
		if got := worded(v.messages[at], m); !strings.HasPrefix(got, m.Text()) && !(r.policy.PinPermille > 0 && bothEnds(got, m.Text())) {
			r.fail("law 8", "message %d is pinned and does not say what it did: %q", m.ID, brief(got))
		}
	}
}

// worded is what a message shows in the parts that were text: an image of it may be a line.
func worded(shown, said llm.Message) string {
	was, now := spoken(said.Parts), llm.Message{}
	for i, p := range spoken(shown.Parts) {
		if _, ok := was[min(i, len(was)-1)].(llm.Text); ok {
			now.Parts = append(now.Parts, p)
		}
	}
	return now.Text()
}

// bothEnds reports whether a text shows the beginning and the end of a longer one, and says
// between them where all of it is.
func bothEnds(shown, all string) bool {
	for _, ref := range regexp.MustCompile(`ref=(r[a-z2-7]{26})`).FindAllStringIndex(shown, -1) { // a person may have written one, too
		end := strings.LastIndex(shown[:ref[0]], "\n")
		if end <= 0 {
			continue
		}
		head, tail := shown[:end], shown[ref[1]:]
		tail = tail[strings.Index(tail, "\n")+1:]
		if len(head)+len(tail) < len(all) && strings.HasPrefix(all, head) && strings.HasSuffix(all, tail) {
			return true
		}
	}
	return false
}

// fromParent reports whether an edit that a fork has from its parent is about a message.
func (r *run) fromParent(id llm.MessageID) bool {
	return slices.ContainsFunc(r.main.s.Edits(), func(e edit.Edit) bool {
		return r.inherited[e.ID] && id >= e.Span.From && id < e.Span.To
	})
}

func texts(sections []llm.Section, n int) []string {
	var all []string
	for _, s := range sections[:min(n, len(sections))] {
		all = append(all, s.Text)
	}
	return all
}

// empty fails where a summary is shown that says nothing.
func (r *run) empty(v *sight) {
	if r.policy.MinimumSummary.Tokens < 20 {
		return
	}
	for _, it := range v.send.Items {
		if it.IsNote() && saysNothing(it.Message.Text()) {
			r.fail("empty summary", "%q is shown", it.Message.Text())
		}
	}
	for _, s := range v.send.Sections {
		if saysNothing(s.Text) {
			r.fail("empty summary", "%q is shown", s.Text)
		}
	}
	// A summary beside several archives stands with one of them, made at once.
	edits := r.main.s.Edits()
	for i := 0; i < len(edits); i++ {
		if edits[i].Kind != edit.KindSummarise || r.inherited[edits[i].ID] {
			continue
		}
		text, from := "", i
		for ; i < len(edits) && edits[i].Kind == edit.KindSummarise && edits[i].Rule == edits[from].Rule; i++ {
			for _, n := range edits[i].Notes {
				text += n.Text()
			}
			for _, s := range edits[i].Sections {
				text += s.Text
			}
		}
		if len(strings.TrimSpace(text)) < 90 {
			r.fail("empty summary", "the edits from %d on show %q", edits[from].ID, text)
		}
	}
}

// idle fails where the backstop acts although balanced had room to act: in a plain chat with one target, which has nothing against it but
// tokens, where what must stay takes little, and nobody has lied, refused or taken back anything.
func (r *run) idle(v *sight, edits []edit.Edit) {
	if r.policy.Name != "balanced" || !r.plain || len(r.places) > 1 || r.pulled || r.counts.undos > 0 {
		return
	}
	p := r.places[0]
	if w := p.target.Window; p.lied || p.refused > 0 || w.MaxBytes > 0 || w.MaxImages > 0 {
		return
	}
	if n, ok := r.floor(p); !ok || n*2 > v.send.Limit {
		return
	}
	for _, e := range edits[r.edits:] {
		if e.Rule == "backstop" {
			r.fail("law 1", "the backstop acts under balanced: %s", listed(edits[r.edits:]))
		}
	}
}

// refForm is what every Ref looks like.
var refForm = regexp.MustCompile(`\br[a-z2-7]{26}\b`)

// sameParts says how two lists of parts differ, thinking aside; empty: they do not.
func sameParts(want, got []llm.Part) string {
	a, b := spoken(want), spoken(got)
	if len(a) != len(b) {
		return fmt.Sprintf("want %d parts, got %d", len(a), len(b))
	}
	for i := range a {
		if !samePart(a[i], b[i]) {
			return fmt.Sprintf("part %d, want %s, got %s", i, brief(fmt.Sprintf("%q", a[i])), brief(fmt.Sprintf("%q", b[i])))
		}
	}
	return ""
}

func spoken(parts []llm.Part) []llm.Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p llm.Part) bool { _, ok := p.(llm.Thinking); return ok })
}

// filled returns the contents of a result without those that say nothing.
func filled(content []llm.Part) []llm.Part {
	return slices.DeleteFunc(slices.Clone(content), func(p llm.Part) bool { t, ok := p.(llm.Text); return ok && (t.Text == "" || t.Text == " ") })
}

func samePart(a, b llm.Part) bool {
	switch a := a.(type) {
	case llm.Text:
		b, ok := b.(llm.Text)
		return ok && a.Text == b.Text
	case llm.Thinking:
		b, ok := b.(llm.Thinking)
		return ok && a.Text == b.Text && a.Signature == b.Signature && a.Redacted == b.Redacted && bytes.Equal(a.Data, b.Data)
	case llm.ToolCall:
		b, ok := b.(llm.ToolCall)
		return ok && a.CallID == b.CallID && a.Name == b.Name && a.Args == b.Args
	case llm.ToolResult:
		b, ok := b.(llm.ToolResult)
		return ok && a.CallID == b.CallID && a.IsError == b.IsError && slices.EqualFunc(filled(a.Content), filled(b.Content), samePart)
	case llm.Media:
		b, ok := b.(llm.Media)
		return ok && a.Type == b.Type && bytes.Equal(a.Data, b.Data)
	case llm.Stub:
		b, ok := b.(llm.Stub)
		return ok && a.Ref == b.Ref && a.Text == b.Text
	}
	return false
}
