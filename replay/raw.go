package replay

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/replay/verify"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// A raw is what is known about a segment after it was run as it was recorded.
type raw struct {
	session  string // the file's name
	number   int    // of the segment, from 1
	dialect  llm.Dialect
	file     *verify.Session // what the file holds, for the judge; nil if nobody asked
	segment  sessionfile.Segment
	model    string
	window   int // capacity of the model's own window
	overhead Overhead
	peak     int // largest prompt, as reported where it is
	reported int // largest reported prompt
	steps    []rawStep
}

// A rawStep is one Step of the raw segment.
type rawStep struct {
	prompt int                // tokens, as reported where they are
	cal    *token.Calibration // as it was before this Step's usage was known
	model  string
}

// pair is one prediction of a reported prompt.
type pair struct {
	step         int
	model        string
	output       bool // the output before it was reported
	kind         token.Kind
	real         int
	point, bound int
}

// measureRaw runs a segment under the policy off.
func (r *Replayer) measureRaw(ctx context.Context, s *sessionfile.Session, n int, carried Overhead) (*raw, []pair, error) {
	seg := s.Segments[n]
	out := &raw{session: s.Path, number: n + 1, dialect: s.Dialect, segment: seg, model: r.modelOf(seg)}
	if out.dialect == "" {
		out.dialect = openai.DialectChat
	}
	if r.opts.Judge {
		out.file = r.fileOf(s)
	}
	out.window = r.capacityOf(out.model, seg)
	family := r.catalog.FamilyOf(out.model)
	cal := token.NewCalibration(family)
	var err error
	if out.overhead, err = r.overheadOf(s, seg, out.model, carried); err != nil {
		return nil, nil, err
	}
	off, err := policy.Preset("off")
	if err != nil {
		return nil, nil, err
	}
	w := budget.Window{Capacity: 1 << 40}
	sess, err := r.open(ctx, off, out, w, nil)
	if err != nil {
		return nil, nil, err
	}
	var pairs []pair
	anchored, output := "", false
	err = r.walk(ctx, sess, out, func(step *sessionfile.Step, send *engine.Send) error {
		sess.View(func(m *engine.Machine) { cal = m.Calibration().Clone() })
		rs := rawStep{prompt: send.Count.Point, cal: cal, model: step.Model}
		if step.Reported {
			rs.prompt = step.Usage.Prompt()
			out.reported = max(out.reported, rs.prompt)
			if anchored == step.Model {
				pairs = append(pairs, pair{len(out.steps) + 1, step.Model, output, send.Count.Kind, rs.prompt, send.Count.Point, send.Count.Bound})
			}
			anchored, output = step.Model, step.OutputReported
		}
		out.peak = max(out.peak, rs.prompt)
		out.steps = append(out.steps, rs)
		return sess.Usage(ctx, engine.Usage{Usage: step.Usage, Reported: step.Reported, OutputUnknown: !step.OutputReported})
	})
	return out, pairs, err
}

// open starts the session of one run.
func (r *Replayer) open(ctx context.Context, p policy.Policy, raw *raw, w budget.Window, cal *token.Calibration) (*plimsoll.Session, error) {
	sess, err := plimsoll.Open(ctx, plimsoll.Options{
		ID: "replay", Policy: p, Catalog: &r.catalog, Encodings: r.load,
		Targets: []budget.Target{{Model: raw.model, Window: w}},
		Offline: true, Ephemeral: true, Calibration: cal,
	})
	if err != nil {
		return nil, err
	}
	sections := slices.Clone(raw.segment.Sections)
	if raw.overhead.Tokens > 0 {
		sections = append(sections, llm.Section{Name: "overhead", Tokens: raw.overhead.Tokens})
	}
	if raw.overhead.Unrecorded > 0 {
		sections = append(sections, llm.Section{Name: "unrecorded", Tokens: raw.overhead.Unrecorded})
	}
	if len(sections) > 0 {
		if err := sess.SetSections(ctx, sections); err != nil {
			return nil, err
		}
	}
	if len(raw.segment.Tools) > 0 {
		if err := sess.SetTools(ctx, raw.segment.Tools); err != nil {
			return nil, err
		}
	}
	return sess, nil
}

// walk feeds a segment to a session: every message, and before the reply of each
// Step a Prepare, of which f is told. send is nil if the request was refused. It
// stops without an error when f returns errEnded.
func (r *Replayer) walk(ctx context.Context, sess *plimsoll.Session, raw *raw, f func(*sessionfile.Step, *engine.Send) error) error {
	answered := false
	for i, e := range raw.segment.Entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.Message.Origin == llm.Human && answered {
			if err := sess.TurnEnd(ctx); err != nil {
				return err
			}
		}
		answered = e.Message.Origin == llm.Model
		if e.Step != nil {
			if err := r.step(ctx, sess, e.Step, f); err != nil {
				return err
			}
		}
		m := e.Message
		m.ID = 0
		if err := sess.Append(ctx, m); err != nil {
			return fmt.Errorf("replay: segment entry %d (line %d): %w", i+1, e.Line, err)
		}
	}
	if raw.segment.Final {
		return r.step(ctx, sess, &sessionfile.Step{Model: raw.model}, f)
	}
	return nil
}

// overheadOf returns what the client sends beside what the file holds. Where the
// file shows its own start the overhead is what the first reported prompt has more
// than the known content, and the session's later segments carry it on; else it is
// the table's value for the client. What that leaves unexplained of a later
// segment's first prompt is unrecorded; if it is much, the segment cannot be run.
func (r *Replayer) overheadOf(s *sessionfile.Session, seg sessionfile.Segment, model string, carried Overhead) (Overhead, error) {
	if s.Client == "" {
		return Overhead{Kind: "none"}, nil
	}
	known, prompt, err := r.firstPrompt(seg, model)
	if err != nil {
		return Overhead{}, err
	}
	hidden := max(prompt-known, 0)
	switch {
	case seg.Start == sessionfile.StartRoot && prompt > 0:
		return Overhead{Tokens: hidden, Kind: "measured"}, nil
	case carried.Kind != "measured":
		carried = r.assumed(s, model)
	}
	carried.Unrecorded = 0
	if prompt == 0 {
		return carried, nil
	}
	carried.Tokens = min(carried.Tokens, hidden)
	carried.Unrecorded = hidden - carried.Tokens
	if carried.Unrecorded*1000 > prompt*missingShare {
		return carried, &missingError{carried.Unrecorded, prompt}
	}
	return carried, nil
}

// assumed returns the overhead that the catalogue has for a client.
func (r *Replayer) assumed(s *sessionfile.Session, model string) Overhead {
	client := s.Client
	if s.Parent != "" {
		client += "/sub-agent"
	}
	o, _ := r.catalog.OverheadOf(client, s.ClientVersion, r.catalog.FamilyOf(model).Name)
	return Overhead{Tokens: o.Typical, Kind: "assumed"}
}

// A missingError says that a segment cannot be run since its parent prompt is
// not in the file.
type missingError struct{ tokens, prompt int }

func (e *missingError) Error() string {
	return fmt.Sprintf("%d of the %d tokens of its first prompt are in messages before the file's first line", e.tokens, e.prompt)
}

// missingShare is the permille of a segment's first prompt that may be
// unexplained. Above it the file lacks a part of the conversation itself.
const missingShare = 250

// firstPrompt returns the estimated size of what the file holds of the first
// reported prompt, and that prompt.
func (r *Replayer) firstPrompt(seg sessionfile.Segment, model string) (known, prompt int, err error) {
	family := r.catalog.FamilyOf(model)
	counter, err := token.ForFamily(family, r.load)
	if err != nil {
		return 0, 0, err
	}
	var size token.Size
	for _, sec := range seg.Sections {
		size = size.Add(token.SizeOfSection(counter, sec))
	}
	for _, e := range seg.Entries {
		if e.Step != nil && e.Step.Reported {
			g := token.GrowthOf(size)
			g.OutputUnknown = true
			return token.NewCalibration(family).Cost(g), e.Step.Usage.Prompt(), nil
		}
		size = size.Add(token.SizeOf(counter, e.Message))
	}
	return 0, 0, nil
}

// fileOf returns the content of a session file as the judge reads it. A file that
// cannot be read a second time, such as standard input, is not looked at.
func (r *Replayer) fileOf(s *sessionfile.Session) *verify.Session {
	if r.judged.path == s.Path {
		return r.judged.content
	}
	r.judged.path, r.judged.content = s.Path, nil
	if data, err := os.ReadFile(s.Path); err == nil {
		if !utf8.Valid(data) { // as the reader reads it
			data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
		}
		r.judged.content = verify.ReadSession(data, string(s.Format))
	}
	return r.judged.content
}

// modelOf returns the model of a segment: the one asked for, else that of its
// first Step.
func (r *Replayer) modelOf(seg sessionfile.Segment) string {
	if r.opts.Model != "" {
		return r.opts.Model
	}
	for _, e := range seg.Entries {
		if e.Step != nil && e.Step.Model != "" {
			return e.Step.Model
		}
	}
	if seg.Model != "" {
		return seg.Model
	}
	return "unknown"
}

// capacityOf returns the window of a model: by the file, the catalogue, or the
// default.
func (r *Replayer) capacityOf(model string, seg sessionfile.Segment) int {
	if seg.Window > 0 && r.opts.Model == "" {
		return seg.Window
	}
	if m, ok := r.catalog.Lookup(model); ok && m.Window > 0 {
		return m.Window
	}
	return budget.DefaultCapacity
}
