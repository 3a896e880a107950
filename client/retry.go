package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v7"

	"github.com/plimsoll-dev/plimsoll/wire"
)

// retry makes attempts until one succeeds or no other may help.
func retry[T any](ctx context.Context, c *Client, k *call, once func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.o.Total, &TimeoutError{"total", c.o.Total})
	defer cancel()
	deadline, _ := ctx.Deadline() // the earlier one of the caller's and ours; a wait beyond it is not begun
	result, err := backoff.Retry(ctx, func() (T, error) {
		k.attempts++
		result, err := once(ctx)
		return result, c.verdict(k, err)
	},
		backoff.WithBackOff(waits()),
		backoff.WithMaxTries(uint(c.o.Tries)), //nolint:gosec // it is at least 1
		backoff.WithMaxElapsedTime(max(time.Until(deadline), time.Nanosecond)),
		backoff.WithNotify(func(err error, wait time.Duration) {
			if c.o.OnRetry != nil {
				c.o.OnRetry(Attempt{Provider: c.p.Name, Model: k.model, Number: k.attempts, Err: cause(err), Wait: wait})
			}
		}),
	)
	if err == nil {
		return result, nil
	}
	return result, c.failed(k, lastError(ctx, err))
}

// waits are those between attempts: the figures of the providers' own SDKs.
func waits() backoff.BackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: 500 * time.Millisecond, RandomizationFactor: 0.25, Multiplier: 2, MaxInterval: 8 * time.Second,
	}
}

// verdict says to package backoff what follows from the error of an attempt.
func (c *Client) verdict(k *call, err error) error {
	if err == nil {
		return nil
	}
	f, ok := errors.AsType[*failure](err)
	if !ok {
		f = &failure{err: err, again: passing(err)}
		if e, ok := errors.AsType[*wire.Error](err); ok {
			f.wait = e.RetryAfter
		}
	}
	f.err = without(f.err, newMask(k.key.Reveal()))
	switch {
	case !f.again || f.wait > c.o.Wait:
		return backoff.Permanent(f.err)
	case f.wait > 0:
		return backoff.RetryAfter(f.wait, f.err)
	}
	return f.err
}

// cause returns the error of an attempt without what verdict put around it.
func cause(err error) error {
	if e, ok := errors.AsType[*backoff.RetryAfterError](err); ok {
		return e.Unwrap()
	}
	return err
}

// lastError returns what a call failed of: the end of its context, with the error
// before that, or the error of its last attempt.
func lastError(ctx context.Context, err error) error {
	last := err
	if e := backoff.AsRetryError(err); e != nil {
		last = e.LastErr
	}
	if ctx.Err() == nil {
		return last
	}
	ended := context.Cause(ctx)
	if errors.Is(last, ended) {
		return ended
	}
	return fmt.Errorf("%w (before: %w)", ended, last)
}
