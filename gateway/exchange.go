package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// mostAttempts is how often one exchange calls a provider that refuses for length. Each
// refusal teaches a smaller window, so that a few are enough.
const mostAttempts = 6

// An Exchange is one request of a client's and what becomes of it. It is used by one
// goroutine at a time.
type Exchange struct {
	gateway *Gateway
	number  uint64 // of those of the gateway, from 1 on
	call    Call
	codec   codecs.Full
	family  *family
	branch  *branch // nil: the request passes by without a session

	flush   *time.Timer   // writes what the session was told; nil: it is written
	flushed chan struct{} // closed when flush has done so

	links   []llm.Digest // of each beginning of the client's messages
	request llm.Request  // as the client made it, but for its first messages
	known   int          // messages that request leaves out, as they were read before
	target  budget.Target
	cover   cover // what the client sees of what the model says
	body    []byte
	betas   []string
	report  Report
	given   Answer // in place of the provider
}

// A RefusalError says that a request cannot be made to fit, or belongs to a history that
// nobody here knows. Status and Body are the answer that the client understands: an error
// of its own dialect.
type RefusalError struct {
	Status int
	Body   []byte
	Report Report // of the exchange, which ends with it
	Err    error
}

// Error implements error.
func (e *RefusalError) Error() string { return "gateway: refused: " + e.Err.Error() }

// Unwrap returns why.
func (e *RefusalError) Unwrap() error { return e.Err }

// Begin takes a request in. What it cannot read passes by as it is, so that whatever a
// client and a provider agree on works. A *[RefusalError] is the answer to a request that
// does not fit; any other error is that of ctx.
func (g *Gateway) Begin(ctx context.Context, c Call) (*Exchange, error) {
	g.store.index.busy()
	x := &Exchange{gateway: g, number: g.begun.Add(1), call: c, body: c.Body}
	codec, ok := codecs.For(c.Dialect)
	if !ok {
		return x.pass("unknown dialect")
	}
	x.codec = codec
	if x.heldElsewhere() {
		x.report.Model = x.statedModel()
		return x.pass("the provider holds the history (conversation)")
	}
	links, why, err := x.read(ctx)
	if unknown, ok := errors.AsType[*UnknownHistoryError](err); ok {
		return nil, x.unknown(unknown)
	}
	if err != nil {
		passed, refused := x.pass("the history is not read: " + err.Error())
		return passed, cmp.Or(ctx.Err(), refused)
	}
	if why != "" {
		return x.pass(why)
	}
	if compacts(c, x.request) {
		return x.compaction()
	}
	c.Body = x.request.Frame.Raw // as much of it as was read
	x.target = g.target(ctx, c, x.request.Model, x.request.MaxOutput)
	x.links, x.family = links, g.families.get(familyName(c, links[0]))
	if err := x.enter(ctx, links); err != nil {
		return nil, err
	}
	return x, nil
}

// read reads the request, its history included, from where it says something new. It
// returns the digest of each beginning of its messages, or why it cannot be anybody's next
// one. The error is about a history that its provider holds.
func (x *Exchange) read(ctx context.Context) (links []llm.Digest, why string, err error) {
	all := &x.gateway.readings
	b := all.begun(x.call)
	body := x.call.Body
	if b.n > 0 {
		body = b.rest
	}
	recalled := goesOn(x.call.Dialect, body)
	if recalled {
		b = begun{}
		if body, err = x.recall(ctx); err != nil {
			return nil, "", err
		}
	}
	request, err := x.codec.DecodeRequest(body)
	if b.n > 0 && (err != nil || !b.continues(request)) {
		b, body = begun{}, x.call.Body
		request, err = x.codec.DecodeRequest(body)
	}
	x.take(request, b.n)
	switch {
	case err != nil:
		return nil, "the body is not read", nil //nolint:nilerr // the error may quote it
	case len(request.Messages) == 0:
		return nil, "no messages", nil
	case x.request.Model == "":
		return nil, "no model", nil
	}
	if b.n > 0 {
		body = x.call.Body
	}
	r := b.then(all.seed, body, request)
	if !recalled {
		all.remember(x.call, b.reading, r)
	}
	return r.links, "", nil
}

// take takes the request as it was read, from message number known on.
func (x *Exchange) take(r llm.Request, known int) {
	if x.call.Model != "" {
		r.Model = x.call.Model
	}
	x.request, x.known = r, known
	x.report.Model, x.report.Messages = r.Model, known+len(r.Messages)
}

// readWhole reads what was left out of the request.
func (x *Exchange) readWhole() error {
	if x.known == 0 {
		return nil
	}
	r, err := x.codec.DecodeRequest(x.call.Body)
	if err == nil {
		x.take(r, 0)
	}
	return err
}

// pass lets the request go as it came, but for tools that may not be offered. Where nobody
// can say whether it has such tools the error is a *[RefusalError].
func (x *Exchange) pass(why string) (*Exchange, error) {
	body, err := x.asAllowed()
	if err != nil {
		return nil, x.unread(err)
	}
	x.branch, x.body, x.betas = nil, body, nil
	x.report.Passed, x.report.Edited = why, x.Edited()
	return x, nil
}

// enter finds the session, tells it what is new and makes the body.
func (x *Exchange) enter(ctx context.Context, links []llm.Digest) error {
	x.family.mu.Lock()
	defer x.family.mu.Unlock()
	if err := x.match(ctx, links); err != nil {
		return x.withoutSession(ctx, err)
	}
	return nil
}

// match is prepare, which begins again where another process was faster, with what that one
// wrote. The lock of the family is held.
func (x *Exchange) match(ctx context.Context, links []llm.Digest) (err error) {
	for range 3 {
		if err = x.prepare(ctx, links); err == nil {
			return nil
		}
		x.family.forget()
		if !conflicted(err) {
			break
		}
	}
	return err
}

// withoutSession is what happens where there is no session to go by: a request that fits
// goes as the client made it, one that does not is refused.
func (x *Exchange) withoutSession(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, plimsoll.ErrRefused) {
		return x.refusal(err)
	}
	over, unjudged := x.judge(ctx)
	if over != nil {
		return x.refusal(errors.Join(over, err))
	}
	x.gateway.options.Log.Warn("request passes without its session",
		"family", x.family.name, "model", x.target.Model, "error", err.Error(), "judged", unjudged == nil)
	_, err = x.pass("session: " + err.Error())
	return err
}

// prepare brings the session to where the request is, and makes the body.
func (x *Exchange) prepare(ctx context.Context, links []llm.Digest) error {
	f := x.family
	f.model.use(x.call.Complete)
	f.others = x.gateway.store.others(ctx)
	if err := f.load(ctx, x.gateway, x.target); err != nil {
		return err
	}
	known := len(f.branches)
	b, shared, err := f.place(ctx, x.gateway, coming{frameOf(x.request.Sections, x.request.Tools), links, x.target, x.goesOn})
	if err != nil {
		return err
	}
	x.report.Match = matchOf(shared, len(f.branches) > known, len(links))
	if err := x.tell(ctx, b, shared, links); err != nil {
		return err
	}
	send, err := b.session.Prepare(ctx, x.target)
	if err != nil {
		return err
	}
	if send, err = x.demanded(ctx, b, send); err != nil {
		return err
	}
	return x.leave(ctx, b, send)
}

// demanded prepares the request anew if a tool was left out that the client demands.
func (x *Exchange) demanded(ctx context.Context, b *branch, send *engine.Send) (*engine.Send, error) {
	c := x.request.Settings.Choice
	if c.Mode != llm.ChoiceTool || !slices.ContainsFunc(b.session.LeftOut(), func(t llm.Tool) bool { return t.Name == c.Tool }) {
		return send, nil
	}
	if err := b.session.OfferTools(ctx, c.Tool); err != nil {
		return nil, err
	}
	return b.session.Prepare(ctx, x.target)
}

// tell tells the session what it does not know yet.
func (x *Exchange) tell(ctx context.Context, b *branch, shared int, links []llm.Digest) error {
	if around := aroundOf(x.request); b.around != around {
		if err := b.session.SetSections(ctx, x.request.Sections); err != nil {
			return err
		}
		if err := b.session.SetTools(ctx, x.request.Tools); err != nil {
			return err
		}
		b.around = around
	}
	news, err := x.from(shared)
	if err != nil {
		return err
	}
	tail := b.tail()
	for i, m := range news {
		m = owned(m)
		if i == 0 && len(tail) > 0 { // what is beyond the Rounds that the session has
			rest, _ := b.cover().beyond(m, tail)
			m = llm.Message{Role: m.Role, Origin: m.Origin, Dialect: m.Dialect, Parts: rest}
		}
		if err := x.add(ctx, b, m); err != nil {
			return fmt.Errorf("message %d: %w", shared+i+1, err)
		}
		b.chain = append(b.chain, links[shared+i])
	}
	return nil
}

// add appends a message to the session of a branch, if it says anything.
func (x *Exchange) add(ctx context.Context, b *branch, m llm.Message) error {
	want := b.session.Len() + 1
	if len(m.Parts) == 0 {
		want--
	} else if err := b.session.Append(ctx, m); err != nil {
		return err
	}
	// Where calls have no result the session has put one in, and a message of the client's
	// would no longer be the one of the same number.
	if got := b.session.Len(); got != want {
		return fmt.Errorf("session: want %d messages, got %d: calls without a result", want, got)
	}
	if b.ends != nil || x.covers() && b.cover().any() {
		b.ends = append(b.ends, want)
	}
	return nil
}

// from returns the client's messages from one on.
func (x *Exchange) from(n int) ([]llm.Message, error) {
	if n < x.known {
		if err := x.readWhole(); err != nil {
			return nil, err
		}
	}
	return x.request.Messages[n-x.known:], nil
}

// goesOn reports whether the request brings the reply that a branch has hidden Rounds of.
func (x *Exchange) goesOn(b *branch, shared int) bool {
	news, err := x.from(shared)
	if err != nil || len(news) == 0 {
		return false
	}
	_, ok := b.cover().beyond(news[0], b.tail())
	return ok
}

// leave makes the body of what the session sends.
func (x *Exchange) leave(ctx context.Context, b *branch, send *engine.Send) error {
	x.report.Saved = 0
	body, betas, err := x.bodyOf(b, send)
	if err != nil {
		return err
	}
	x.branch, x.body, x.betas, b.last = b, body, betas, x.number
	if x.covers() {
		x.cover = b.cover()
	}
	if x.Edited() || x.gateway.store.mustFlush(b.name) { // what was taken out, and what was asked, is durable before the request leaves
		if err := x.gateway.store.flush(ctx, b.name); err != nil {
			return err
		}
	} else {
		x.flushBeside()
	}
	x.report.sent(b.name, send, len(body))
	x.report.Edited = x.Edited()
	return nil
}

// Body returns what to send: the client's own bytes, the same slice, unless an edit holds.
func (x *Exchange) Body() []byte { return x.body }

// Edited reports whether Body is another one than the client's.
func (x *Exchange) Edited() bool {
	return len(x.body) != len(x.call.Body) || len(x.body) > 0 && &x.body[0] != &x.call.Body[0]
}

// Rewrites reports whether the client will be told something else than the provider's bytes
// ([Options.ClientView], [Options.Offer]), so that the reply must not be packed.
func (x *Exchange) Rewrites() bool { return x.views() || x.cover.any() }

// covers reports whether a conversation may have something that its client does not see.
func (x *Exchange) covers() bool { return x.gateway.options.Offer || x.gateway.options.Allow != nil }

// views reports whether what edits took out is added to the figures.
func (x *Exchange) views() bool { return x.gateway.options.ClientView && x.report.Saved > 0 }

// Betas returns the values that the header anthropic-beta needs for Body beyond those that
// the client sends.
func (x *Exchange) Betas() []string { return x.betas }

// Refused takes in the answer to Body, an error. It returns true if Body is another one
// now, to be sent in its place: the provider refused the length, and the session found
// what to leave out. Then the client need not know. false: the answer is the client's,
// byte for byte.
func (x *Exchange) Refused(ctx context.Context, status int, body []byte) (again bool) {
	if x.codec == nil {
		return false
	}
	return x.refusedBy(ctx, x.codec.DecodeError(status, body))
}

func (x *Exchange) refusedBy(ctx context.Context, e *wire.Error) bool {
	x.report.Class = e.Class
	if x.branch == nil || !isLength(e) || x.report.Attempts-x.report.Rounds >= mostAttempts {
		return false
	}
	x.family.mu.Lock()
	defer x.family.mu.Unlock()
	if err := x.shorten(ctx, e); err != nil {
		x.gateway.options.Log.Warn("a refused request could not be made shorter", "session", x.branch.name, "error", err.Error())
		if !errors.Is(err, plimsoll.ErrRefused) {
			x.family.forget()
		}
		return false
	}
	x.report.Class = wire.Unclassified
	return true
}

// shorten makes the body to send in the place of one that was refused. Where another
// request of the conversation has left meanwhile, such as the same one sent twice at once,
// the session is past this one: it comes in again, and if the session has learnt from the
// other's refusal its body is a shorter one already. The lock of the family is held.
func (x *Exchange) shorten(ctx context.Context, e *wire.Error) error {
	if x.branch.last == x.number {
		if err := x.reopen(ctx); err != nil {
			return err
		}
	} else {
		refused, match := len(x.body), x.report.Match
		err := x.match(ctx, x.links)
		x.report.Match = match // that is of how it came
		if err != nil || len(x.body) < refused {
			return err
		}
		x.report.Attempts-- // nobody has sent that body
	}
	send, err := x.branch.session.Rejected(ctx, e)
	if err != nil {
		return err
	}
	return x.leave(ctx, x.branch, send)
}

// reopen brings the session to where it was when the request left, if it is not in memory
// any more. The lock of the family is held.
func (x *Exchange) reopen(ctx context.Context) error {
	if x.branch.session != nil {
		return nil
	}
	x.family.others = x.gateway.store.others(ctx)
	if err := x.gateway.fresh(ctx, x.family, x.branch, x.target); err != nil {
		return err
	}
	_, err := x.branch.session.Prepare(ctx, x.target)
	return err
}

// refusal returns err as the client's dialect has it, in the words by which clients know
// that they are to shorten their history.
func (x *Exchange) refusal(err error) error {
	e := &wire.Error{Class: wire.TooLong}
	if over, ok := errors.AsType[*budget.OverError](err); ok {
		e.Used, e.Window = over.Used, over.Limit
		if over.Quantity != budget.InTokens {
			e = &wire.Error{Class: wire.TooLarge, Message: over.Error()}
		} else {
			x.report.Tokens, x.report.Limit = over.Used, over.Limit
		}
	}
	x.report.Class, x.report.Refused = e.Class, err.Error()
	status, body := x.codec.EncodeError(e)
	return &RefusalError{Status: status, Body: body, Report: x.report, Err: err}
}
