package proxy

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// keyStart is what keys begin with: so that one is known for what it is wherever it turns
// up, also once it is no longer valid.
const keyStart = "sk-plimsoll-"

// keyHeader is the header that a key is stated in beside the client's own for the provider.
const keyHeader = "X-Plimsoll-Key"

// Keys are those that a server lets in. They are kept as hashes. The zero Keys let
// nobody in. They are safe for concurrent use.
type Keys struct {
	now atomic.Pointer[keyFile]
}

// A keyFile is what a file of keys says.
type keyFile struct {
	all    []key
	owners map[string]*owner
}

// A key is one line of a file of keys.
type key struct {
	hash  [sha256.Size]byte
	owner *owner
}

// An owner is whoever has the keys of one name. Its limits hold for all of them together.
type owner struct {
	name     string
	rate     *rate.Limiter // nil: no limit
	most     int64         // requests in flight; 0: no limit
	inFlight *atomic.Int64
}

// ownerName is what a key may be called. It stands in logs.
var ownerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

// NewKey returns a new key and the line of a file of keys that lets it in.
func NewKey(name string) (secret, line string, err error) {
	if !ownerName.MatchString(name) {
		return "", "", fmt.Errorf("proxy: key %q, want a name of letters, digits and ._@-, at most 64", name)
	}
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	secret = keyStart + base64.RawURLEncoding.EncodeToString(b[:])
	hash := sha256.Sum256([]byte(secret))
	return secret, name + " " + hex.EncodeToString(hash[:]), nil
}

// ReadKeys reads a file of keys: lines of a name, the SHA-256 of the key in hexadecimal
// digits, and, where they are wanted, the limits rpm=N (requests a minute) and inflight=N
// (requests at a time). A name may have several keys, whose limits are those of its first
// line. Empty lines and those that begin with # are left out.
func ReadKeys(r io.Reader) (*Keys, error) {
	k := &Keys{}
	if err := k.Reload(r); err != nil {
		return nil, err
	}
	return k, nil
}

// Reload takes the keys of a file, read as [ReadKeys] does, in place of those that there
// are, for requests that come from now on. With an error it changes nothing. What a name has
// in flight and has used of its requests a minute goes on counting.
func (k *Keys) Reload(r io.Reader) error {
	read, err := readKeyFile(r)
	if err != nil {
		return err
	}
	if before := k.now.Load(); before != nil {
		read.goOn(before)
	}
	k.now.Store(read)
	return nil
}

func readKeyFile(r io.Reader) (*keyFile, error) {
	k := &keyFile{owners: map[string]*owner{}}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if err := k.add(words); err != nil {
			return nil, fmt.Errorf("proxy: keys: line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("proxy: keys: %w", err)
	}
	if len(k.all) == 0 {
		return nil, fmt.Errorf("proxy: keys: want at least one line of a name and a hash, got none")
	}
	return k, nil
}

// add adds a line. Its error does not repeat the hash: somebody could have put a key there.
func (k *keyFile) add(words []string) error {
	if !ownerName.MatchString(words[0]) {
		return fmt.Errorf("name, want letters, digits and ._@-, at most 64, got %q", words[0])
	}
	if len(words) < 2 {
		return fmt.Errorf("want a name and the SHA-256 of a key, got a name")
	}
	hash, err := hex.DecodeString(words[1])
	if err != nil || len(hash) != sha256.Size {
		return fmt.Errorf("of %s, want the SHA-256 of a key in 64 hexadecimal digits, got something else", words[0])
	}
	if [sha256.Size]byte(hash) == sha256.Sum256(nil) { // of a variable that was not set; it would let in whoever states nothing
		return fmt.Errorf("of %s, want the SHA-256 of a key, got that of nothing", words[0])
	}
	o := k.owners[words[0]]
	if o == nil {
		o = &owner{name: words[0], inFlight: &atomic.Int64{}}
		if err := o.limits(words[2:]); err != nil {
			return err
		}
		k.owners[words[0]] = o
	}
	k.all = append(k.all, key{[sha256.Size]byte(hash), o})
	return nil
}

func (o *owner) limits(words []string) error {
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || n < 1 || name != "rpm" && name != "inflight" {
			return fmt.Errorf("of %s, want rpm=N or inflight=N with an N of 1 or more, got %q", o.name, w)
		}
		if name == "inflight" {
			o.most = n
			continue
		}
		o.rate = rate.NewLimiter(rate.Limit(float64(n)/60), int(n))
	}
	return nil
}

// goOn takes over what owners of the file before have used.
func (k *keyFile) goOn(before *keyFile) {
	for name, o := range k.owners {
		old := before.owners[name]
		if old == nil {
			continue
		}
		o.inFlight = old.inFlight
		if o.rate != nil && old.rate != nil {
			old.rate.SetLimit(o.rate.Limit())
			old.rate.SetBurst(o.rate.Burst())
			o.rate = old.rate
		}
	}
}

// find returns whose a key is; nil: nobody's. It takes as long for every key.
func (k *keyFile) find(secret string) *owner {
	if k == nil { // nothing was read: nobody is let in
		return nil
	}
	hash := sha256.Sum256([]byte(secret))
	var found *owner
	for i := range k.all {
		if subtle.ConstantTimeCompare(k.all[i].hash[:], hash[:]) == 1 {
			found = k.all[i].owner
		}
	}
	return found
}

// admit takes a request in. It returns how long to wait where the owner has used up what
// it may; release is for when the request has ended.
func (o *owner) admit(now time.Time) (release func(), wait time.Duration) {
	if o.most > 0 && o.inFlight.Add(1) > o.most {
		o.inFlight.Add(-1)
		return nil, time.Second
	}
	release = func() {}
	if o.most > 0 {
		release = func() { o.inFlight.Add(-1) }
	}
	if o.rate == nil {
		return release, 0
	}
	r := o.rate.ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
		release()
		return nil, wait
	}
	return release, 0
}

// slots are the headers in which clients send the key of a provider.
var slots = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"}

// takeKey finds out whose a request is and takes every key of this server out of it, so
// that none can leave. own is true if a key of the client's for the provider is left.
func (k *Keys) takeKey(r *http.Request) (found *owner, own bool) {
	file := k.now.Load()
	stated := r.Header.Values(keyHeader)
	r.Header.Del(keyHeader)
	ours := func(secret string) bool {
		o := file.find(secret)
		if found == nil && len(stated) == 0 {
			found = o
		}
		return o != nil || strings.HasPrefix(secret, keyStart)
	}
	for _, name := range slots {
		var kept []string
		for _, v := range r.Header.Values(name) {
			if !ours(bearer(v)) {
				kept = append(kept, v)
			}
		}
		if r.Header.Del(name); len(kept) > 0 {
			r.Header[http.CanonicalHeaderKey(name)], own = kept, true
		}
	}
	for name, values := range r.Header { // nobody else has a use for one, wherever it stands
		if slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, keyStart) }) {
			r.Header.Del(name)
		}
	}
	var inQuery bool
	r.URL.RawQuery, inQuery = withoutKeys(r.URL.RawQuery, ours)
	if len(stated) == 1 {
		found = file.find(stated[0])
	}
	return found, own || inQuery
}

// bearer returns the key of an Authorization header, or what other headers have.
func bearer(v string) string {
	if scheme, rest, ok := strings.Cut(v, " "); ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(rest)
	}
	return strings.TrimSpace(v)
}

// withoutKeys returns a query without the parameters that are keys of ours; own is true if a
// parameter key is left. What else it has keeps its bytes.
func withoutKeys(query string, ours func(string) bool) (rest string, own bool) {
	if query == "" {
		return query, false
	}
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		plain, err := url.QueryUnescape(part)
		if err != nil { // who reads it may read it otherwise
			plain = part
		}
		name, value, _ := strings.Cut(plain, "=")
		if name == "key" {
			if ours(value) {
				continue
			}
			own = true
		}
		if !strings.Contains(plain, keyStart) {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "&"), own
}
