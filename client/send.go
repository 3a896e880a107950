package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/wire"
)

// A failure is the error of an attempt, with what follows from it.
type failure struct {
	err   error
	again bool          // another attempt may succeed
	wait  time.Duration // that the provider demands before it; 0 if none
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// send makes one attempt up to the head of the answer. The body of a success is the
// caller's to close; any other answer is an error.
func (c *Client) send(ctx context.Context, k *call) (*http.Response, error) {
	key, err := c.keys.find(ctx)
	if err != nil {
		return nil, err
	}
	k.key = key.key
	if !key.key.IsZero() && c.base.Scheme == "http" && !isNear(c.base.Hostname()) {
		return nil, &PlainError{Provider: c.p.Name, Host: c.base.Host}
	}
	req, err := http.NewRequestWithContext(ctx, k.method, k.url, bytes.NewReader(k.body))
	if err != nil {
		return nil, err
	}
	req.Header = k.header.Clone()
	if !key.key.IsZero() {
		name, before := key.auth.header()
		req.Header.Set(name, before+key.key.Reveal())
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, transportError(ctx, err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, c.refused(resp, key)
}

// transportError says why there was no answer, without the URL.
func transportError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// refused reads an answer that is no reply.
func (c *Client) refused(resp *http.Response, key found) error {
	if resp.StatusCode/100 == 3 {
		e := &RedirectError{Status: resp.StatusCode, To: "nowhere"}
		if to, err := resp.Location(); err == nil {
			e.To = to.Scheme + "://" + to.Host
		}
		return e
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, mostError)) // what came of it is all that can be shown
	e := c.codec.DecodeError(resp.StatusCode, body)
	for _, name := range []string{"Request-Id", "X-Request-Id"} {
		if e.RequestID == "" {
			e.RequestID = resp.Header.Get(name)
		}
	}
	if wait, ok := retryAfter(resp.Header); ok {
		e.RetryAfter = wait
	}
	f := &failure{err: e, again: e.Class.Retryable(), wait: e.RetryAfter}
	switch resp.Header.Get("X-Should-Retry") { // which the providers' own SDKs obey
	case "true":
		f.again = e.Class != wire.Billing && e.Class != wire.TooLong // which no waiting cures
	case "false":
		f.again = false
	}
	if resp.StatusCode == http.StatusUnauthorized && c.keys.forget(key) {
		f.again = true // with a new key
	}
	return f
}

// retryAfter returns how long the head of an answer says to wait.
func retryAfter(h http.Header) (time.Duration, bool) {
	const most = 365 * 24 * time.Hour / time.Second
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 && ms < float64(most*1000) {
		return time.Duration(ms * float64(time.Millisecond)), true
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(text, 64); err == nil && s >= 0 && s < float64(most) {
		return time.Duration(s * float64(time.Second)), true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at)), true
	}
	return 0, false
}

// passing reports whether an error that came with no word about it may pass.
func passing(err error) bool {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e.Class.Retryable()
	}
	if errors.Is(err, wire.ErrCut) {
		return true
	}
	if _, ok := errors.AsType[*TimeoutError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return !e.IsNotFound
	}
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// streams reports whether an answer is said to be a stream, whatever was asked for.
func streams(resp *http.Response) bool {
	switch mediaType(resp) {
	case "text/event-stream", "application/x-ndjson", "application/ndjson", "application/jsonl", "application/stream+json":
		return true
	}
	return false
}

func mediaType(resp *http.Response) string {
	t, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return t
}
