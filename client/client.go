package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// A Client asks the models of one provider. It is safe for concurrent use.
type Client struct {
	p      Provider
	o      Options
	codec  codecs.Full
	base   *url.URL
	query  url.Values
	paths  Paths
	keys   *keys
	http   *http.Client
	caches *Caches
	// catalog loads what models cost, once it is asked for.
	catalog func() (catalog.Catalog, error)
	// mostReply bounds replies that are not streamed, in bytes.
	mostReply int64
}

// New returns a client of p. No request is made and no key is looked for yet. The error
// is a *[BaseURLError] if there is no address or a wrong one; else it says what of p is wrong.
func New(p Provider, o Options) (*Client, error) {
	o = o.withDefaults()
	coder, ok := codecs.For(p.Dialect)
	if !ok {
		return nil, fmt.Errorf("client: provider %s: dialect, want one that has a codec, got %q", p.Name, p.Dialect)
	}
	if p.MaxTokens && p.Dialect == openai.DialectChat {
		coder = openai.Chat{MaxTokens: true}
	}
	if err := checkNames(p); err != nil {
		return nil, err
	}
	base, err := baseOf(p, o.Env)
	if err != nil {
		return nil, err
	}
	c := &Client{p: p, o: o, codec: coder, base: base, query: queryOf(p, o.Env), paths: p.Paths, keys: newKeys(p, o.Env), mostReply: mostReply}
	for name, values := range base.Query() {
		if !c.query.Has(name) {
			c.query[name] = values
		}
	}
	if c.query.Has("api-version") && p.Dated != (Paths{}) {
		c.paths = p.Dated
	}
	c.http = &http.Client{Transport: http.DefaultTransport}
	if o.HTTP != nil {
		*c.http = *o.HTTP
	}
	c.http.CheckRedirect = sameOrigin
	if c.caches = o.Caches; c.caches == nil {
		c.caches = new(Caches)
	}
	if c.catalog = sync.OnceValues(catalog.Load); o.Catalog != nil {
		c.catalog = func() (catalog.Catalog, error) { return *o.Catalog, nil }
	}
	return c, nil
}

// BaseURL returns the address that requests go to, without their paths and parameters.
func (c *Client) BaseURL() string { return shown(c.base) }

// Complete sends r and returns the whole reply. r.Model is the provider's own name for
// the model. Where the provider streams nevertheless, the stream is gathered. The error
// is an *[Error].
func (c *Client) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	r.Settings.Stream = false
	k, err := c.prepare(opComplete, c.paths.Complete, r)
	if err != nil {
		return llm.Response{}, err
	}
	u := c.keep(ctx, r, k)
	defer u.end()
	once := func(ctx context.Context) (llm.Response, error) { return c.complete(ctx, k) }
	reply, err := retry(ctx, c, k, once)
	if u.refused(ctx, err) {
		k.body = u.whole
		reply, err = retry(ctx, c, k, once)
	}
	if err == nil {
		reply.Usage = u.answered(reply.Usage)
	}
	return reply, err
}

// The operations, as errors name them.
const (
	opComplete = "complete"
	opStream   = "stream"
	opCount    = "count tokens"
	opModel    = "model"
	opCache    = "cache"
)

// A call is one request in its written form, with what its attempts have found out.
type call struct {
	op, model   string
	method, url string
	body        []byte
	header      http.Header
	attempts    int
	key         Secret // of the last attempt
}

// prepare writes a request.
func (c *Client) prepare(op, path string, r llm.Request) (*call, error) {
	k := &call{op: op, model: r.Model, method: http.MethodPost}
	if r.Model == "" {
		return nil, c.failed(k, errors.New("model, want one, got none"))
	}
	if path == "" {
		return nil, c.failed(k, &UnsupportedError{c.p.Name, op})
	}
	body, err := c.codec.EncodeRequest(r)
	if err != nil {
		return nil, c.failed(k, err)
	}
	k.url, k.body, k.header = c.address(path, r.Model), body, c.header()
	if c.p.Dialect == anthropic.Dialect {
		addBetas(k.header, anthropic.Betas(r))
	}
	return k, nil
}

// header returns what stands in the head of every request but the key.
func (c *Client) header() http.Header {
	h := http.Header{}
	for name, value := range c.p.Headers {
		h.Set(name, value)
	}
	h.Set("Content-Type", "application/json")
	if h.Get("User-Agent") == "" {
		h.Set("User-Agent", c.o.UserAgent)
	}
	return h
}

// addBetas adds to the betas that a provider's own headers may state.
func addBetas(h http.Header, betas []string) {
	const name = "Anthropic-Beta"
	all := map[string]bool{}
	var list []string
	for _, b := range append(strings.Split(h.Get(name), ","), betas...) {
		if b = strings.TrimSpace(b); b != "" && !all[b] {
			all[b], list = true, append(list, b)
		}
	}
	if len(list) > 0 {
		h.Set(name, strings.Join(list, ","))
	}
}

// failed wraps what was wrong with a call.
func (c *Client) failed(k *call, err error) error {
	return &Error{Provider: c.p.Name, Model: k.model, Op: k.op, Attempts: k.attempts, Err: err}
}

// complete makes one attempt at a whole reply.
func (c *Client) complete(ctx context.Context, k *call) (llm.Response, error) {
	l := c.limits(ctx)
	defer l.end()
	var reply wire.Reply
	a, err := c.receive(l, k, func(e llm.Event) bool {
		reply.Add(e)
		return true
	})
	if err != nil || a.whole {
		return a.reply, err
	}
	return reply.Response(c.p.Dialect), nil
}

// fetch makes one attempt and returns the body of the answer, whatever it is.
func (c *Client) fetch(ctx context.Context, k *call) ([]byte, error) {
	l := c.limits(ctx)
	defer l.end()
	resp, err := c.send(l.ctx, k)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return l.readAll(resp.Body)
}

// decode reads the body of a reply. Some providers answer 200 and an error body; some
// send what they had when the model gave up, without a reason to stop.
func (c *Client) decode(body []byte) (llm.Response, error) {
	r, err := c.codec.DecodeResponse(body)
	switch {
	case err == nil && r.Stop == llm.StopUnknown && r.Reason == "":
		return llm.Response{}, &failure{err: wire.ErrCut} // asked again it would most likely do the same
	case err == nil:
		return r, nil
	}
	if e, ok := errors.AsType[*wire.Error](err); ok && e.Class != wire.Unclassified {
		return llm.Response{}, e
	}
	if e := c.errorIn(body); e != nil {
		return llm.Response{}, e
	}
	if e := c.codec.DecodeError(http.StatusOK, body); e.Class != wire.Unclassified && e.Class != wire.ServerFault {
		return llm.Response{}, e
	}
	return llm.Response{}, err
}
