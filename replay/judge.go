package replay

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/turn"
	"github.com/plimsoll-dev/plimsoll/internal/drive"
	"github.com/plimsoll-dev/plimsoll/replay/verify"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// A judge looks at every request of one run as it would be exported, and writes
// it if there is a folder for it. The zero judge does neither.
type judge struct {
	raw     *raw
	sess    *drive.Driver
	check   *verify.Checker
	counter *verify.Counter
	ratio   int // true tokens of 1,000 counted ones, by the catalogue
	export  *exporter
	ground  *grounder
	orphans map[string]bool
	lost    map[string]bool
	broken  map[string]bool
	made    map[string]bool
	rules   []RuleBreak
	client  []byte // the raw view of the last Step judged
	every   bool
	pending *pending
}

// A pending request is yet to be judged: unless every one is, only the last of
// those that each extend the one before, since it holds them all.
type pending struct {
	step     int
	send     *engine.Send
	messages []llm.Message
	edits    []edit.Edit
	body     []byte // nil: not encoded yet
}

// A JudgeError says that a view holds what neither the client nor the engine wrote.
type JudgeError struct {
	Session, Policy, Window string
	Found                   []string
}

// Error implements error.
func (e *JudgeError) Error() string {
	return fmt.Sprintf("replay: %s under %s at %s: %d parts that nobody wrote, the first: %s",
		e.Session, e.Policy, e.Window, len(e.Found), e.Found[0])
}

// judge returns the judge of a run.
func (r *Replayer) judge(raw *raw, run *Run, sess *drive.Driver) (*judge, error) {
	j := &judge{raw: raw, sess: sess, orphans: map[string]bool{}, lost: map[string]bool{}, broken: map[string]bool{}, made: map[string]bool{}}
	if r.opts.Judge {
		c, err := verify.NewChecker(string(raw.dialect))
		if err != nil {
			return nil, fmt.Errorf("replay: judge: %w", err)
		}
		family := r.catalog.FamilyOf(raw.model)
		if raw.exactly != "" { // what decides there is the estimate itself
			family.Estimator, family.Prior = raw.exactly, 1000
		}
		if j.counter, err = judgeCounter(family.Estimator); err != nil {
			return nil, fmt.Errorf("replay: judge: %w", err)
		}
		j.check, j.ratio, j.every = c, family.Prior, r.opts.Every || r.opts.Out != ""
	}
	if r.opts.Out != "" {
		x, err := newExporter(r.opts.Out, raw, run)
		if err != nil {
			return nil, err
		}
		j.export = x
	}
	return j, nil
}

// step takes the request of Step n. It extends the last one, or begins anew.
func (j *judge) step(n int, send *engine.Send, extends bool) error {
	p := &pending{step: n, send: send}
	if j.export != nil {
		body, err := encode(j.raw, send.Sections, send.Tools, send.Messages())
		if err != nil {
			return err
		}
		if err := j.export.step(n, send, body); err != nil {
			return err
		}
		p.body = body
	}
	if j.check == nil {
		return nil
	}
	if j.every || !extends {
		if err := j.settle(); err != nil {
			return err
		}
	}
	p.messages, p.edits = j.sess.Machine().Messages(), j.sess.Machine().Journal()
	j.pending = p
	return nil
}

// settle judges the request that is pending, if there is one.
func (j *judge) settle() error {
	p := j.pending
	if p == nil {
		return nil
	}
	j.pending = nil
	var err error
	if p.body == nil {
		if p.body, err = encode(j.raw, p.send.Sections, p.send.Tools, p.send.Messages()); err != nil {
			return err
		}
	}
	if j.client, err = encode(j.raw, j.raw.sections(), j.raw.segment.Tools, p.messages); err != nil {
		return err
	}
	found, err := j.check.Compare(j.client, p.body, j.options(p.edits))
	if err != nil {
		return fmt.Errorf("replay: judge step %d: %w", p.step, err)
	}
	j.obey(p.step, p.body)
	note(j.orphans, found.Orphans)
	note(j.broken, found.Unresolved)
	note(j.made, found.Invented)
	for _, u := range found.Uncovered {
		if u.Kind == verify.Tool && p.send.Final != engine.ReasonNone {
			continue // a forced final Step offers no tools but the final one
		}
		j.lost[u.CallID+u.Text+string(u.Kind)] = true
	}
	return nil
}

// obey notes the rules of the provider that our request breaks more often than the
// client's does. What a session file holds may break some by itself, and no file says
// how much the model was allowed to write.
func (j *judge) obey(step int, body []byte) {
	o := check.Options{Model: j.raw.model}
	theirs := map[string]int{}
	for _, f := range o.Request(j.raw.dialect, j.client) {
		theirs[f.Rule]++
	}
	for _, f := range o.Request(j.raw.dialect, body) {
		if theirs[f.Rule]--; theirs[f.Rule] < 0 {
			j.rules = append(j.rules, RuleBreak{step, f.Rule, f.Path, f.Message})
		}
	}
}

func note(set map[string]bool, texts []string) {
	for _, t := range texts {
		set[t] = true
	}
}

// options tells the checker what the engine wrote and what the journal says is
// stored. The text of a replaced output has to name its Ref; one that by its
// document's template does not is found through the journal.
func (j *judge) options(edits []edit.Edit) verify.Options {
	o := verify.Options{Notes: []string{wire.Opening}, Load: func(ref string) ([]byte, error) {
		return j.sess.Blob(context.Background(), llm.Ref(ref))
	}}
	for _, e := range edits {
		for _, n := range e.Notes {
			o.Notes = append(o.Notes, n.Text())
		}
		for _, s := range e.Sections {
			o.Notes = append(o.Notes, s.Text)
		}
		if r, ok := e.Replacement.(llm.ToolResult); ok && !strings.Contains(r.Text(), string(e.Refs[0])) {
			o.Notes = append(o.Notes, r.Text())
		}
		for i, ref := range e.Refs {
			c := verify.Cover{Ref: string(ref)}
			if i == 0 && e.Op == edit.Archive {
				c.From, c.To = int(e.Span.From), int(e.Span.To)
			}
			o.Covering = append(o.Covering, c)
		}
	}
	return o
}

// source checks that the raw view of a segment is what the session file holds: the
// parts that it does not have, but for those that the client is known to have
// sent without recording them, and the stated results of interrupted calls.
func (j *judge) source(client []byte) error {
	if client == nil || j.raw.file == nil {
		return nil
	}
	own := []string{wire.Opening, turn.InterruptedText, sessionfile.ClearedByClaudeCode, sessionfile.ClearedByOpenCode}
	own = append(own, j.raw.segment.NotInFile()...)
	for _, s := range j.raw.sections() {
		own = append(own, s.Text)
	}
	missing, err := j.check.Missing(client, j.raw.file, own)
	if err != nil {
		return fmt.Errorf("replay: judge: %w", err)
	}
	note(j.made, missing)
	return nil
}

// finish books what was found.
func (j *judge) finish(run *Run) error {
	if err := j.settle(); err != nil {
		return err
	}
	if err := j.source(j.client); err != nil {
		return err
	}
	run.RuleBreaks = append(run.RuleBreaks, j.rules...)
	run.Orphans, run.UnresolvedRefs, run.Uncovered = len(j.orphans), len(j.broken), len(j.lost)
	if j.export != nil {
		if err := j.export.finish(j.sess); err != nil {
			return err
		}
	}
	if len(j.made) > 0 {
		e := &JudgeError{Session: j.raw.session, Policy: run.Policy, Window: run.Window}
		e.Found = slices.Sorted(maps.Keys(j.made))
		return e
	}
	return nil
}

// sections returns the system prompt as the file has it.
func (r *raw) sections() []llm.Section { return r.segment.Sections }

// encode writes a request in the session's dialect.
func encode(r *raw, sections []llm.Section, tools []llm.Tool, msgs []llm.Message) ([]byte, error) {
	req := llm.Request{Dialect: r.dialect, Model: r.model, Tools: tools, Messages: msgs}
	for _, s := range sections {
		if s.Text != "" || len(s.Data) > 0 {
			req.Sections = append(req.Sections, s)
		}
	}
	codec, ok := codecs.For(r.dialect)
	if !ok {
		return nil, fmt.Errorf("replay: encode: dialect, want one that has a codec, got %q", r.dialect)
	}
	return codec.EncodeRequest(req)
}
