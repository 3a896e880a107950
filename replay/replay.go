package replay

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/replay/verify"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/store"
)

// Options say what is replayed under what.
type Options struct {
	Policies []policy.Policy
	Windows  []WindowSpec // empty: the model's own
	Model    string       // replaces the models of the file
	Join     bool         // ignore recorded compactions: one segment
	Judge    bool         // judge the requests from their exported bytes
	Every    bool         // judge each one, those too that a later one holds in full; so with Out
	Out      string       // folder for exports; empty: none
	Base     Base         // what is looked at; empty: BaseFull
	Ground   bool         // say what of what the agent's calls referred to was sent: Run.Grounding
	Batches  bool         // say what each batch cost and saved: Run.Batches
	Series   bool         // say for each Step what was sent: Run.Series

	// Store keeps what each run did; nil: nothing is kept. A run's name there is
	// "FILE#SEGMENT POLICY WINDOW HASH" with the file's name without its folders and a
	// hash of what was run, so that it takes the place of the same run of the same
	// content only.
	Store store.Store

	Catalog *catalog.Catalog // what is known about models; nil: the embedded one

	// Other loads the vocabularies that are not embedded, such as hf:FILE; nil: none.
	Other token.Encodings
}

// A Replayer runs sessions. Make one with [New]; it may be used for many
// sessions, one after the other.
type Replayer struct {
	opts      Options
	catalog   catalog.Catalog
	encodings plimsoll.Encodings
	remember  map[string]*bpe.Encoding // of the segment that is run: its texts are counted once

	// judged is the file that the judge read last.
	judged struct {
		path    string
		content *verify.Session
	}
}

// New returns a Replayer.
func New(o Options) (*Replayer, error) {
	if o.Catalog == nil {
		c, err := catalog.Load()
		if err != nil {
			return nil, err
		}
		o.Catalog = &c
	}
	if len(o.Windows) == 0 {
		o.Windows = []WindowSpec{{}}
	}
	return &Replayer{opts: o, catalog: *o.Catalog, encodings: plimsoll.Encodings{Other: o.Other}}, nil
}

// load returns the encoding called name, which remembers this session's texts.
func (r *Replayer) load(name string) (*bpe.Encoding, error) {
	if enc, ok := r.remember[name]; ok {
		return enc, nil
	}
	enc, err := r.encodings.Load(name)
	if err != nil {
		return nil, err
	}
	r.remember[name] = enc.Remembering()
	return r.remember[name], nil
}

// about returns how package inspect looks at what is run here.
func (r *Replayer) about() inspect.Options {
	return inspect.Options{Catalog: r.catalog, Encodings: r.load, Model: r.opts.Model}
}

// errEnded stops a walk where a policy has forced the final Step.
var errEnded = errors.New("ended")

// Session runs all segments of a session and calls f with each result.
func (r *Replayer) Session(ctx context.Context, s *sessionfile.Session, f func(Result) error) error {
	if r.opts.Join {
		s = join(s)
	}
	return r.Stream(ctx, s, func(yield func(sessionfile.Segment, error) bool) {
		for _, seg := range s.Segments {
			if !yield(seg, nil) {
				return
			}
		}
	}, f)
}

// Stream runs the segments of a session as they come, and keeps none of them: a
// session may be larger than memory. Of header everything but the segments is
// looked at. Options.Join has no effect. An error of segments ends it. f gets a result
// once the next segment was read, so that the last one is known to be it.
func (r *Replayer) Stream(ctx context.Context, header *sessionfile.Session, segments iter.Seq2[sessionfile.Segment, error], f func(Result) error) error {
	var carried Overhead
	var held *Result
	whole, n := inspect.Family{CostUSD: catalog.Dollars(0)}, 0
	for seg, err := range segments {
		if held != nil {
			if err := f(*held); err != nil {
				return err
			}
			held = nil
		}
		if err != nil {
			return err
		}
		n++
		r.remember = map[string]*bpe.Encoding{}
		res, raw, err := r.segment(ctx, header, seg, n, carried)
		if err != nil {
			return err
		}
		if raw.overhead.Kind == inspect.Measured && res.NotRun == "" {
			carried = raw.overhead
		}
		whole, held = whole.Add(raw.whole), &res
	}
	if held == nil {
		return f(nothing(header, r.about()))
	}
	held.last(header, whole, r.about())
	return f(*held)
}

// Inspect returns the report of a session, such as a sub-agent's, by what the Replayer
// itself goes by.
func (r *Replayer) Inspect(s *sessionfile.Session) (inspect.Report, error) {
	r.remember = map[string]*bpe.Encoding{}
	return inspect.Session(s, r.about())
}

// calls returns how many model calls a segment made, and how many were copied from
// another session.
func calls(seg sessionfile.Segment) (own, copied int) {
	for _, e := range seg.Entries {
		switch {
		case e.Step == nil:
		case e.Step.Copied != "":
			copied++
		default:
			own++
		}
	}
	return own, copied
}

// look measures a segment, number n of its session, on the base that was asked for.
func (r *Replayer) look(s *sessionfile.Session, seg sessionfile.Segment, n int, carried Overhead) (out *raw, err error) {
	if r.opts.Base == BaseMessages {
		out, err = r.measureMessages(s, seg, n)
	} else {
		out, err = r.measure(s, seg, n, carried)
	}
	if err == nil && r.opts.Ground && out.notRun == "" {
		out.grounds, err = groundsOf(out)
	}
	return out, err
}

// segment runs a segment, which is number n of its session.
func (r *Replayer) segment(ctx context.Context, s *sessionfile.Session, seg sessionfile.Segment, n int, carried Overhead) (Result, *raw, error) {
	res := Result{
		Schema: Schema, Session: s.Path, Format: string(s.Format), Segment: n, Name: seg.Name, Start: string(seg.Start),
		NotRun: seg.NotRun, Model: r.about().ModelOf(seg), Messages: len(seg.Entries),
		Problems: []Problem{}, By: []Estimate{}, Runs: []Run{},
	}
	if r.opts.Base != BaseFull {
		res.Base = r.opts.Base
	}
	res.Steps, res.Copied = calls(seg)
	if n == 1 {
		res.head(s, r.about())
	}
	raw, err := r.look(s, seg, n, carried)
	if err != nil {
		return res, nil, err
	}
	res.Reported.Peak, res.Overhead = raw.reported, raw.overhead
	res.Billing, res.WindowGuessed, res.Accepted = raw.billing, raw.guessed, raw.accepted
	if res.NotRun = raw.notRun; res.NotRun == "" && len(raw.steps) == 0 {
		res.NotRun = "the segment has no model call"
	}
	if res.NotRun != "" {
		return res, raw, nil
	}
	if r.opts.Base != BaseMessages {
		pairs, err := r.runRaw(ctx, s, raw)
		if err != nil {
			return res, raw, err
		}
		res.Estimate, res.By = estimates(pairs)
	}
	for _, w := range r.opts.Windows {
		if !w.fits(raw) {
			res.LeftOut = append(res.LeftOut, LeftOut{w.String(), fmt.Sprintf("the conversation has %d tokens, too few to take a share of", max(raw.peak-raw.fixed, 0))})
		}
	}
	for _, p := range r.opts.Policies {
		for _, w := range r.opts.Windows {
			if !w.fits(raw) {
				continue
			}
			run, err := r.run(ctx, raw, p, w)
			if err != nil {
				return res, raw, err
			}
			res.Runs = append(res.Runs, run)
		}
	}
	return res, raw, nil
}
