package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/cache"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
)

// Caches remembers the explicit caches of conversations, which a provider keeps as resources of
// their own, and what requests found. The zero Caches is empty. It is safe for concurrent use, and may serve
// several clients with one key: a resource belongs to the account that made it.
//
// As JSON it may be put away and taken up by a later process. What has lapsed or is gone by then
// costs one refusal, after which the whole request is sent.
type Caches struct {
	mu  sync.Mutex
	all map[string]*cached
}

// A cached is what is known of one conversation with one model.
type cached struct {
	mu sync.Mutex // of the request that is on its way with it

	Lease    cache.Lease `json:"lease"`
	Resource string      `json:"resource,omitempty"` // its name; empty: there is none
	Contents int         `json:"contents,omitempty"` // that it holds
	Sum      llm.Digest  `json:"sum"`                // of what it holds
	Tokens   int         `json:"tokens,omitempty"`   // the same
	Missed   int         `json:"missed,omitempty"`   // tokens that each request paid in full before
	Expires  int64       `json:"expires,omitempty"`  // Unix milliseconds, by our clock
	Read     bool        `json:"read,omitempty"`     // a request has been answered with it
	Off      bool        `json:"off,omitempty"`      // the provider takes no resource of it
	Made     int         `json:"made,omitempty"`     // tokens that no reply's usage has yet
	Stored   int         `json:"stored,omitempty"`   // token-seconds, the same

	Last begun `json:"last"` // how the last request began
}

// A begun names the beginning of a request.
type begun struct {
	Contents int        `json:"contents,omitempty"`
	Sum      llm.Digest `json:"sum"`
}

// MarshalJSON writes k down. A conversation whose request is on its way is waited for.
func (k *Caches) MarshalJSON() ([]byte, error) {
	k.mu.Lock()
	all := maps.Clone(k.all)
	k.mu.Unlock()
	out := make(map[string]json.RawMessage, len(all))
	for name, h := range all {
		h.mu.Lock()
		text, err := json.Marshal(h)
		h.mu.Unlock()
		if err != nil {
			return nil, err
		}
		out[name] = text
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote, in place of all that k has.
func (k *Caches) UnmarshalJSON(text []byte) error {
	var all map[string]*cached
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	maps.DeleteFunc(all, func(_ string, h *cached) bool { return h == nil })
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = all
	return nil
}

// of returns what is known of a conversation, for one request at a time; nil while another one
// has it, which then goes without.
func (k *Caches) of(name string) *cached {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all = map[string]*cached{}
	}
	h := k.all[name]
	if h == nil {
		h = new(cached)
		k.all[name] = h
	}
	if !h.mu.TryLock() {
		return nil
	}
	return h
}

// A CacheEvent says what became of the resource of a conversation.
type CacheEvent struct {
	Provider, Model string
	Conversation    string // the name that it has in its requests
	What            CacheChange
	Resource        string
	Tokens          int       // that it holds
	Until           time.Time // when it lapses, by our clock
	Err             error     // why not, of CacheFailed
}

// CacheChange is the kind of a [CacheEvent].
type CacheChange string

// The kinds. Of CacheFailed nothing is lost: the whole request is sent.
const (
	CacheMade       CacheChange = "made"
	CacheLengthened CacheChange = "lengthened"
	CacheDropped    CacheChange = "dropped" // the conversation does not begin with it any more, or a larger one took its place
	CacheLapsed     CacheChange = "lapsed"
	CacheFailed     CacheChange = "failed"
)

// The limits of resources. A request that is sent that shortly before its resource lapses is
// sent whole; one is not waited for longer than that.
const (
	keptMargin = 5 * time.Second
	keptWait   = time.Minute
)

// A use is a request that may name a resource.
type use struct {
	*cached
	c     *Client
	r     llm.Request
	at    time.Time
	whole []byte // the body without a resource
	named bool
}

// keep decides whether a request names a resource, makes, lengthens or gives one up, and leaves
// out of the request what it holds. It returns nil for a request of which nothing is to be kept.
func (c *Client) keep(ctx context.Context, r llm.Request, k *call) *use {
	keep := r.Settings.Explicit
	if keep.Name == "" || c.paths.Caches == "" || c.p.Dialect != gemini.Dialect {
		return nil
	}
	contents, ok := gemini.Contents(r, k.body, keep.Messages)
	if !ok {
		return nil
	}
	b, ok := gemini.BeginningOf(k.body, contents)
	if !ok {
		return nil
	}
	h := c.caches.of(r.Model + "\n" + keep.Name)
	if h == nil {
		return nil
	}
	u := &use{cached: h, c: c, r: r, at: time.Now(), whole: k.body}
	if was, ok := gemini.BeginningOf(k.body, h.Last.Contents); len(h.Lease.Seen) > 0 && (!ok || was.Sum() != h.Last.Sum) {
		h.Lease.Broken()
	}
	h.Last = begun{contents, b.Sum()}
	prices, priced := c.prices(r.Model, keep.Tokens)
	u.settle(ctx)
	if priced && !h.Off {
		u.lengthen(ctx, prices)
		u.make(ctx, prices, b)
	}
	if body, ok := gemini.Naming(k.body, h.Contents, h.Resource); ok && h.Resource != "" {
		k.body, u.named = body, true
	}
	return u
}

// prices returns what a model asks.
func (c *Client) prices(model string, prompt int) (catalog.Prices, bool) {
	known, err := c.catalog()
	if err != nil {
		return catalog.Prices{}, false
	}
	m, ok := known.Lookup(model)
	if !ok {
		return catalog.Prices{}, false
	}
	return m.PricesAt(prompt)
}

// settle forgets a resource that has lapsed, and gives one up that the request does not begin with.
func (u *use) settle(ctx context.Context) {
	if u.Resource == "" {
		return
	}
	if !u.at.Add(keptMargin).Before(time.UnixMilli(u.Expires)) {
		u.tell(CacheLapsed, nil)
		u.Resource = ""
		return
	}
	if b, ok := gemini.BeginningOf(u.whole, u.Contents); !ok || b.Sum() != u.Sum {
		u.drop(ctx)
	}
}

// lengthen keeps the resource for longer, if the next request may come too late for it and that pays.
func (u *use) lengthen(ctx context.Context, p catalog.Prices) {
	if u.Resource == "" || u.Expires-u.at.UnixMilli() > u.Lease.Longest()+keptMargin.Milliseconds() {
		return
	}
	stay := u.Lease.Lengthen(p, u.Tokens, u.Missed)
	until := u.at.Add(time.Duration(stay.Seconds) * time.Second)
	more := until.UnixMilli() - u.Expires
	if stay.Seconds == 0 || more <= 0 {
		return
	}
	if _, err := u.ask(ctx, http.MethodPatch, u.c.resource(u.Resource)+"?updateMask=ttl", gemini.Lifetime(stay.Seconds)); err != nil {
		u.tell(CacheFailed, err)
		u.Resource = "" // whether it is still there the next request would find out by being refused
		return
	}
	u.Expires = until.UnixMilli()
	u.Stored += u.Tokens * int((more+999)/1000)
	u.tell(CacheLengthened, nil)
}

// make makes a resource, if there is none or a smaller one, and it pays.
func (u *use) make(ctx context.Context, p catalog.Prices, b gemini.Beginning) {
	if u.Resource != "" && len(b.Contents) <= u.Contents {
		return
	}
	held := 0
	if u.Resource != "" {
		held = u.Tokens
	}
	stay := u.Lease.Make(p, u.r.Settings.Explicit.Tokens, held)
	if stay.Seconds == 0 {
		return
	}
	answer, err := u.ask(ctx, http.MethodPost, u.c.paths.Caches, b.Resource(u.r.Model, stay.Seconds))
	name, tokens, ok := gemini.DecodeResource(answer)
	switch {
	case err == nil && !ok:
		err = errors.New("resource, want its name, got none")
		fallthrough
	case err != nil:
		u.Off = ctx.Err() == nil // a call that was given up says nothing of the next one
		u.tell(CacheFailed, err)
		return
	case tokens == 0:
		tokens = u.r.Settings.Explicit.Tokens
	}
	u.drop(ctx)
	u.Resource, u.Contents, u.Sum, u.Tokens, u.Missed = name, len(b.Contents), b.Sum(), tokens, stay.Missed
	u.Read = false
	u.Expires = u.at.Add(time.Duration(stay.Seconds) * time.Second).UnixMilli()
	u.Made += tokens
	u.Stored += tokens * stay.Seconds
	u.tell(CacheMade, nil)
}

// drop gives the resource up. One that cannot be deleted lapses by itself.
func (u *use) drop(ctx context.Context) {
	if u.Resource == "" {
		return
	}
	_, err := u.ask(ctx, http.MethodDelete, u.c.resource(u.Resource), nil)
	u.tell(CacheDropped, err)
	u.Resource = ""
}

func (u *use) tell(what CacheChange, err error) {
	if u.c.o.OnCache == nil {
		return
	}
	u.c.o.OnCache(CacheEvent{
		Provider: u.c.p.Name, Model: u.r.Model, Conversation: u.r.Settings.Explicit.Name, What: what,
		Resource: u.Resource, Tokens: u.Tokens, Until: time.UnixMilli(u.Expires), Err: err,
	})
}

// resource returns the path of a resource by its name, which [gemini.DecodeResource] has read.
func (c *Client) resource(name string) string {
	at := strings.LastIndexByte(c.paths.Caches, '/')
	return c.paths.Caches[:at+1] + name
}

// ask makes one attempt at a call about a resource.
func (u *use) ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, keptWait, &TimeoutError{"attempt", keptWait})
	defer cancel()
	k := &call{op: opCache, model: u.r.Model, method: method, body: body, url: u.c.address(path, u.r.Model), header: u.c.header()}
	answer, err := u.c.fetch(ctx, k)
	if err == nil {
		return answer, nil
	}
	if f, ok := errors.AsType[*failure](err); ok {
		err = f.err
	}
	return nil, without(err, newMask(k.key.Reveal()))
}

// refused reports whether the provider refused a request for its resource: whatever it says of
// the request itself, it says again of the whole one.
func (u *use) refused(ctx context.Context, err error) bool {
	if u == nil || !u.named {
		return false
	}
	e, ok := errors.AsType[*wire.Error](err)
	if !ok || e.Class == wire.TooLong {
		return false
	}
	switch e.Status {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound:
		u.tell(CacheFailed, e)
		bad := e.Status == http.StatusBadRequest
		u.Off = bad || !u.Read // the next one would be paid for as much in vain
		if bad {               // it is there, and is paid for; the others say that it is gone
			u.drop(ctx)
		}
		u.Resource, u.named = "", false
		return true
	}
	return false
}

// answered books the usage of a reply, and returns it with what the resource cost.
func (u *use) answered(said llm.Usage) llm.Usage {
	if u == nil || said.IsZero() {
		return said
	}
	u.Read = u.Read || u.named
	u.Lease.Answered(cache.Sight{At: u.at.UnixMilli(), Prompt: said.Prompt(), Read: said.CacheRead})
	said.Made, said.Stored = u.Made, u.Stored
	u.Made, u.Stored = 0, 0
	return said
}

// end lets the next request of the conversation have what is known.
func (u *use) end() {
	if u != nil {
		u.mu.Unlock()
	}
}

// DropCaches gives up all resources that are known: their storage is paid for as long as they are
// there. The error joins what went wrong; what was not given up lapses by itself.
func (c *Client) DropCaches(ctx context.Context) error {
	c.caches.mu.Lock()
	all := maps.Clone(c.caches.all)
	c.caches.mu.Unlock()
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(all)) {
		h := all[name]
		model, _, _ := strings.Cut(name, "\n")
		h.mu.Lock()
		if h.Resource != "" {
			u := &use{cached: h, c: c, r: llm.Request{Model: model}}
			if _, err := u.ask(ctx, http.MethodDelete, c.resource(h.Resource), nil); err != nil {
				wrong = append(wrong, fmt.Errorf("client: give up %s: %w", h.Resource, err))
			} else {
				h.Resource = ""
			}
		}
		h.mu.Unlock()
	}
	return errors.Join(wrong...)
}
