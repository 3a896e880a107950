package replay

import (
	"context"
	"errors"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
	"github.com/plimsoll-dev/plimsoll/replay/verify"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
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
}

// A Replayer runs sessions. Make one with [New]; it may be used for many
// sessions, one after the other.
type Replayer struct {
	opts      Options
	catalog   catalog.Catalog
	encodings plimsoll.Encodings
	remember  map[string]*bpe.Encoding // of the session that is run: its texts are counted once

	// judged is the file that the judge read last.
	judged struct {
		path    string
		content *verify.Session
	}
}

// New returns a Replayer.
func New(o Options) (*Replayer, error) {
	c, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	if len(o.Windows) == 0 {
		o.Windows = []WindowSpec{{}}
	}
	return &Replayer{opts: o, catalog: c}, nil
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

// errEnded stops a walk where a policy has forced the final Step.
var errEnded = errors.New("ended")

// Session runs all segments of a session and calls f with each result.
func (r *Replayer) Session(ctx context.Context, s *sessionfile.Session, f func(Result) error) error {
	if r.opts.Join {
		s = join(s)
	}
	r.remember = map[string]*bpe.Encoding{}
	var carried Overhead
	for n := range s.Segments {
		res, overhead, err := r.segment(ctx, s, n, carried)
		if err != nil {
			return err
		}
		if overhead.Kind == "measured" {
			carried = overhead
		}
		if err := f(res); err != nil {
			return err
		}
	}
	return nil
}

func (r *Replayer) segment(ctx context.Context, s *sessionfile.Session, n int, carried Overhead) (Result, Overhead, error) {
	seg := s.Segments[n]
	res := Result{
		Schema: Schema, Session: s.Path, Format: string(s.Format), Segment: n + 1, Start: string(seg.Start),
		NotRun: seg.NotRun, Model: r.modelOf(seg), Steps: seg.Steps(), Messages: len(seg.Entries),
		Problems: []Problem{}, Runs: []Run{},
	}
	if n == 0 {
		for _, p := range s.Problems {
			res.Problems = append(res.Problems, Problem(p))
		}
		res.Parent = s.Parent
		for _, b := range s.Abandoned {
			res.Abandoned = append(res.Abandoned, Branch(b))
		}
	}
	if seg.NotRun == "" && seg.Steps() == 0 && !seg.Final {
		res.NotRun = "the segment has no model call"
	}
	if res.NotRun != "" {
		return res, Overhead{}, nil
	}
	raw, pairs, err := r.measureRaw(ctx, s, n, carried)
	var missing *missingError
	if errors.As(err, &missing) {
		res.NotRun = missing.Error()
		return res, Overhead{}, nil
	}
	if err != nil {
		return res, Overhead{}, err
	}
	res.Reported.Peak, res.Overhead = raw.reported, raw.overhead
	res.Estimate, res.By = estimates(pairs)
	for _, p := range r.opts.Policies {
		for _, w := range r.opts.Windows {
			run, err := r.run(ctx, raw, p, w)
			if err != nil {
				return res, Overhead{}, err
			}
			res.Runs = append(res.Runs, run)
		}
	}
	return res, raw.overhead, nil
}
