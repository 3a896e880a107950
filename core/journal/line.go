package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A line is a record as it is written. Pointers and omitzero tell what is
// missing from what is empty.
type line struct {
	V        int            `json:"v"`
	Kind     Kind           `json:"kind"`
	Message  *message       `json:"message,omitempty"`
	Edit     *change        `json:"edit,omitempty"`
	Worth    *Worth         `json:"worth,omitempty"`
	Usage    *usage         `json:"usage,omitempty"`
	Rejected *Rejected      `json:"rejected,omitempty"`
	Sections []section      `json:"sections,omitzero"`
	Tools    []tool         `json:"tools,omitzero"`
	Offer    []place        `json:"offer,omitzero"`
	Declared bool           `json:"declared,omitempty"`
	Policy   *policy.Policy `json:"policy,omitempty"`
	Ask      *ask           `json:"ask,omitempty"`
	Answer   *answer        `json:"answer,omitempty"`
	Fork     *fork          `json:"fork,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	Rule     *ruleMoment    `json:"rule,omitempty"`
	State    *state         `json:"state,omitempty"`

	unread *UnreadState // in place of State, where it is read later
}

type ruleMoment struct {
	Name string `json:"name,omitempty"`
	Room bool   `json:"room,omitempty"`
	B64  odd    `json:"b64,omitempty"`
}

type usage struct {
	Input        int  `json:"input,omitempty"`
	CacheRead    int  `json:"cache_read,omitempty"`
	CacheWrite5m int  `json:"cache_write_5m,omitempty"`
	CacheWrite1h int  `json:"cache_write_1h,omitempty"`
	Output       int  `json:"output,omitempty"`
	Reasoning    int  `json:"reasoning,omitempty"`
	Cleared      int  `json:"cleared,omitempty"`
	Made         int  `json:"made,omitempty"`
	Stored       int  `json:"stored,omitempty"`
	Reported     bool `json:"reported,omitempty"`
	OutputKnown  bool `json:"output_reported,omitempty"`
	Ratio        int  `json:"ratio,omitempty"`

	Target string `json:"target,omitempty"`
	Model  string `json:"model,omitempty"`
	By     string `json:"by,omitempty"`
	Extra  *usage `json:"extra,omitempty"`
	Stated *usage `json:"stated,omitempty"`
	B64    odd    `json:"b64,omitempty"`
}

type ask struct {
	ID         int           `json:"id,omitempty"`
	Kind       string        `json:"kind,omitempty"`
	Rule       string        `json:"rule,omitempty"`
	ByHand     bool          `json:"by_hand,omitempty"`
	Focus      string        `json:"focus,omitempty"`
	Edit       edit.ID       `json:"edit,omitempty"`
	Messages   int           `json:"messages,omitempty"`
	From       llm.MessageID `json:"from,omitempty"`
	To         llm.MessageID `json:"to,omitempty"`
	Covered    int           `json:"covered,omitempty"`
	MaxTokens  int           `json:"max_tokens,omitempty"`
	Background bool          `json:"background,omitempty"`
	Fault      string        `json:"fault,omitempty"`
	B64        odd           `json:"b64,omitempty"`
}

type answer struct {
	Ask   int     `json:"ask,omitempty"`
	Text  string  `json:"text,omitempty"`
	Err   string  `json:"err,omitempty"`
	Did   Outcome `json:"outcome,omitempty"`
	Held  string  `json:"held,omitempty"`
	Calls *calls  `json:"calls,omitempty"`
	B64   odd     `json:"b64,omitempty"`
}

type calls struct {
	Target string `json:"target,omitempty"`
	Model  string `json:"model,omitempty"`
	N      int    `json:"n,omitempty"`
	Usage  *usage `json:"usage,omitempty"`
	B64    odd    `json:"b64,omitempty"`
}

type fork struct {
	Parent string        `json:"parent,omitempty"`
	At     llm.MessageID `json:"at,omitempty"`
	B64    odd           `json:"b64,omitempty"`
}

// Encode returns r as one line of JSON without a newline. It refuses a kind,
// part, role, origin, flag or ref that the format has no form for, and a policy
// with text that is not UTF-8. The result belongs to the caller.
func Encode(r Record) ([]byte, error) {
	l, err := lineOf(r)
	if err != nil {
		return nil, fmt.Errorf("journal: encode %s: %w", r.Kind, err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return nil, fmt.Errorf("journal: encode %s: %w", r.Kind, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func lineOf(r Record) (line, error) {
	l := line{V: commonVersion, Kind: r.Kind}
	var err error
	switch r.Kind {
	case KindMessage:
		l.Message, err = messageOf(r.Message)
	case KindEdit:
		l.Edit, err = changeOf(r.Edit)
		l.Worth = r.Worth
		if r.Edit.Kind == edit.KindProvider { // who knows nothing of it would leave the history out for somebody who cannot read the summary
			l.V = providerVersion
		}
		if err == nil && r.Within != (Within{}) {
			l.Edit.Within = &place{r.Within.At, int(r.Within.Edit)}
		}
	case KindUsage:
		l.Usage = usageOf(r.Usage)
	case KindRejected:
		l.Rejected = &r.Rejected
	case KindSections:
		l.Sections, err = sectionsOf(r.Sections)
	case KindTools:
		l.Tools, err = toolsOf(r.Tools)
	case KindOffer:
		l.V, l.Offer, l.Declared = offerVersion, runsOf(r.Offer), r.Declared
		if r.Declared { // who knows nothing of it would send references to tools that are not declared
			l.V = declaredVersion
		}
	case KindPolicy:
		if r.Policy == nil {
			return line{}, errors.New("policy, want one, got none")
		}
		l.Policy, err = policyOf(*r.Policy)
	case KindTurnEnd, KindExceeded:
	case KindForce:
		l.Reason = r.Reason
	case KindAsk:
		l.Ask = askOf(r.Ask)
	case KindAnswer:
		l.Answer = answerOf(r.Answer)
	case KindRule:
		l.Rule = &ruleMoment{Room: r.Rule.Room}
		l.Rule.Name = l.Rule.B64.put("name", r.Rule.Name)
	case KindState:
		l.State = stateOf(*r.State)
	case KindFork:
		l.Fork = &fork{At: r.Fork.At}
		l.Fork.Parent = l.Fork.B64.put("parent", r.Fork.Parent)
	default:
		err = unknownKind(r.Kind)
	}
	return l, err
}

func unknownKind(k Kind) error { return fmt.Errorf("kind, want a known one, got %.40q", k) }

func usageOf(u Usage) *usage {
	w := figuresOf(u.Usage)
	w.Reported, w.OutputKnown, w.Ratio = u.Reported, u.Output, u.Ratio
	w.Target, w.Model, w.By = w.B64.put("target", u.Target), w.B64.put("model", u.Model), w.B64.put("by", u.By)
	if !u.Extra.IsZero() {
		w.Extra = figuresOf(u.Extra)
	}
	if !u.Stated.IsZero() {
		w.Stated = figuresOf(u.Stated)
	}
	return w
}

func figuresOf(u llm.Usage) *usage {
	return &usage{
		Input: u.Input, CacheRead: u.CacheRead, CacheWrite5m: u.CacheWrite5m, CacheWrite1h: u.CacheWrite1h,
		Output: u.Output, Reasoning: u.Reasoning, Cleared: u.Cleared, Made: u.Made, Stored: u.Stored,
	}
}

func (u *usage) figures() llm.Usage {
	return llm.Usage{
		Input: u.Input, CacheRead: u.CacheRead, CacheWrite5m: u.CacheWrite5m, CacheWrite1h: u.CacheWrite1h,
		Output: u.Output, Reasoning: u.Reasoning, Cleared: u.Cleared, Made: u.Made, Stored: u.Stored,
	}
}

func (u *usage) usage() Usage {
	out := Usage{
		Usage: u.figures(), Reported: u.Reported, Output: u.OutputKnown, Ratio: u.Ratio,
		Target: u.B64.get("target", u.Target), Model: u.B64.get("model", u.Model), By: u.B64.get("by", u.By),
	}
	if u.Extra != nil {
		out.Extra = u.Extra.figures()
	}
	if u.Stated != nil {
		out.Stated = u.Stated.figures()
	}
	return out
}

func answerOf(a Answer) *answer {
	w := &answer{Ask: a.Ask, Did: a.Outcome}
	w.Text, w.Err, w.Held = w.B64.put("text", a.Text), w.B64.put("err", a.Err), w.B64.put("held", a.Held)
	if c := a.Calls; c != (Calls{}) {
		w.Calls = &calls{N: c.N}
		w.Calls.Target, w.Calls.Model = w.Calls.B64.put("target", c.Target), w.Calls.B64.put("model", c.Model)
		if !c.Usage.IsZero() {
			w.Calls.Usage = figuresOf(c.Usage)
		}
	}
	return w
}

func (w *answer) answer() Answer {
	a := Answer{Ask: w.Ask, Text: w.B64.get("text", w.Text), Err: w.B64.get("err", w.Err), Outcome: w.Did, Held: w.B64.get("held", w.Held)}
	if c := w.Calls; c != nil {
		a.Calls = Calls{Target: c.B64.get("target", c.Target), Model: c.B64.get("model", c.Model), N: c.N}
		if c.Usage != nil {
			a.Calls.Usage = c.Usage.figures()
		}
	}
	return a
}

func askOf(a Ask) *ask {
	w := &ask{ID: a.ID, From: a.From, To: a.To, Covered: a.Covered, MaxTokens: a.MaxTokens, Background: a.Background, ByHand: a.ByHand, Edit: a.Edit, Messages: a.Messages}
	w.Kind, w.Rule, w.Focus = w.B64.put("kind", a.Kind), w.B64.put("rule", a.Rule), w.B64.put("focus", a.Focus)
	w.Fault = w.B64.put("fault", a.Fault)
	return w
}

func (w *ask) ask() Ask {
	return Ask{
		ID: w.ID, Kind: w.B64.get("kind", w.Kind), Rule: w.B64.get("rule", w.Rule), Focus: w.B64.get("focus", w.Focus),
		From: w.From, To: w.To, Covered: w.Covered, MaxTokens: w.MaxTokens, Background: w.Background, ByHand: w.ByHand, Edit: w.Edit, Messages: w.Messages,
		Fault: w.B64.get("fault", w.Fault),
	}
}

// policyOf checks that the texts of p survive JSON. The plain form of a value
// holds the bytes of every string in it, between characters of its own.
func policyOf(p policy.Policy) (*policy.Policy, error) {
	if !utf8.ValidString(fmt.Sprintf("%v", p)) {
		return nil, errors.New("want texts in UTF-8, got other bytes")
	}
	return &p, nil
}

// Decode reads a line that [Encode] wrote, in this or an earlier version. A
// record of a newer version is a *[VersionError]. The record shares nothing with
// data. Any other input is an error, never a panic.
func Decode(data []byte) (Record, error) {
	var in reader
	r, err := in.decode(data)
	if err != nil || r.Unread == nil {
		return r, err
	}
	if r.State, err = r.Unread.read(); err != nil {
		return Record{}, fmt.Errorf("journal: decode %w", err)
	}
	r.Unread = nil
	return r, nil
}

// decode is [Decode], but that a state may be left to be read later.
func (r *reader) decode(data []byte) (Record, error) {
	if !utf8.Valid(data) {
		return Record{}, errors.New("journal: decode: want UTF-8, got other bytes")
	}
	var err error
	l := &r.into.line
	if r.reset(data); !r.line() {
		*l, err = plainly(data)
	}
	if v := versionOf(data, l, err); v > Version {
		return Record{}, &VersionError{Got: v, Want: Version}
	}
	if err != nil {
		return Record{}, fmt.Errorf("journal: decode: %w", err)
	}
	if l.V < 1 {
		return Record{}, fmt.Errorf("journal: decode: version, want 1 to %d, got %d", Version, l.V)
	}
	rec, err := l.record()
	if err != nil {
		return Record{}, fmt.Errorf("journal: decode %.40s: %w", l.Kind, err)
	}
	return rec, nil
}

// plainly reads a line by encoding/json.
func plainly(data []byte) (line, error) {
	var l line
	err := json.Unmarshal(data, &l)
	return l, err
}

// versionOf returns the version of a line, also of one that only a newer
// program can read.
func versionOf(data []byte, l *line, err error) int {
	if err == nil {
		return l.V
	}
	var head struct {
		V int `json:"v"`
	}
	if json.Unmarshal(data, &head) != nil {
		return 0
	}
	return head.V
}

func (l *line) record() (Record, error) {
	r := Record{Kind: l.Kind}
	var err error
	switch {
	case l.missing():
		return Record{}, fmt.Errorf("want a field %q, got none", l.Kind)
	case l.Kind == KindMessage:
		r.Message, err = l.Message.message()
	case l.Kind == KindEdit:
		r.Edit, err = l.Edit.edit()
		r.Worth = l.Worth
		if w := l.Edit.Within; w != nil {
			r.Within = Within{At: w[0], Edit: edit.ID(w[1])}
		}
	case l.Kind == KindUsage:
		r.Usage = l.Usage.usage()
	case l.Kind == KindRejected:
		r.Rejected = *l.Rejected
	case l.Kind == KindSections:
		r.Sections, err = readSections(l.Sections)
	case l.Kind == KindTools:
		r.Tools, err = readTools(l.Tools)
	case l.Kind == KindOffer:
		r.Offer, err = readRuns(l.Offer)
		r.Declared = l.Declared
	case l.Kind == KindPolicy:
		r.Policy = l.Policy
	case l.Kind == KindTurnEnd, l.Kind == KindExceeded:
	case l.Kind == KindForce:
		r.Reason = l.Reason
	case l.Kind == KindAsk:
		r.Ask = l.Ask.ask()
	case l.Kind == KindAnswer:
		r.Answer = l.Answer.answer()
	case l.Kind == KindRule:
		r.Rule = RuleMoment{Name: l.Rule.B64.get("name", l.Rule.Name), Room: l.Rule.Room}
	case l.unread != nil:
		r.Unread = l.unread
	case l.Kind == KindState:
		s := l.State.state()
		r.State = &s
	case l.Kind == KindFork:
		r.Fork = Fork{Parent: l.Fork.B64.get("parent", l.Fork.Parent), At: l.Fork.At}
	default:
		err = unknownKind(l.Kind)
	}
	return r, err
}

// missing reports whether the line lacks what its kind is about. The lists of
// sections, tools and an offer may be missing: a nil list is written as nothing.
func (l *line) missing() bool {
	switch l.Kind {
	case KindMessage:
		return l.Message == nil
	case KindEdit:
		return l.Edit == nil
	case KindUsage:
		return l.Usage == nil
	case KindRejected:
		return l.Rejected == nil
	case KindPolicy:
		return l.Policy == nil
	case KindAsk:
		return l.Ask == nil
	case KindAnswer:
		return l.Answer == nil
	case KindRule:
		return l.Rule == nil
	case KindState:
		return l.State == nil && l.unread == nil
	case KindFork:
		return l.Fork == nil
	}
	return false
}
