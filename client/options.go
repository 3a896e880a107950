package client

import (
	"net/http"
	"os"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

// Options say how a [Client] works. The zero Options are the defaults; of the times,
// a negative one is no limit.
type Options struct {
	// HTTP sends the requests; nil: a client of its own. It is not changed; its
	// redirect policy is not used, and its Timeout bounds streams as a whole.
	HTTP *http.Client
	// Tries is how many attempts a call may have. 0: 3, as the providers' own SDKs do.
	Tries int
	// Attempt bounds one attempt: up to the whole reply, or to the head of a stream.
	// 0: 10 minutes, as the providers' own SDKs do.
	Attempt time.Duration
	// Idle bounds how long a stream may send nothing, pings included. 0: 5 minutes, as
	// coding agents do.
	Idle time.Duration
	// Total bounds a call with all attempts, waits, and the whole stream. 0: 1 hour.
	Total time.Duration
	// Wait bounds the wait before another attempt; a provider that demands a longer one
	// has its error returned at once. 0: 1 minute.
	Wait time.Duration
	// OnRetry is told of each attempt that failed and is made again, before the wait.
	OnRetry func(Attempt)
	// Env reads environment variables; nil: os.Getenv.
	Env func(name string) string
	// Caches remembers the explicit caches of conversations ([llm.Settings.Explicit]); nil: a list
	// of the client's own.
	Caches *Caches
	// OnCache is told what becomes of them, by the goroutine that makes the call.
	OnCache func(CacheEvent)
	// Catalog has the prices by which they are made; nil: the built-in one. It is not changed.
	Catalog *catalog.Catalog
	// UserAgent is sent with each request. Empty: "plimsoll".
	UserAgent string
}

// An Attempt is one that failed and is made again.
type Attempt struct {
	Provider, Model string
	Number          int           // of the attempt that failed, from 1
	Err             error         // why
	Wait            time.Duration // before the next one
}

// The bounds on bodies, in bytes. An error body is shown to people; a reply holds at
// most some generated pictures.
const (
	mostError = 1 << 20
	mostReply = 256 << 20
)

// withDefaults returns o with what is not stated.
func (o Options) withDefaults() Options {
	if o.Tries <= 0 {
		o.Tries = 3
	}
	o.Attempt = defaultTime(o.Attempt, 10*time.Minute)
	o.Idle = defaultTime(o.Idle, 5*time.Minute)
	o.Total = defaultTime(o.Total, time.Hour)
	o.Wait = defaultTime(o.Wait, time.Minute)
	if o.Env == nil {
		o.Env = os.Getenv
	}
	if o.UserAgent == "" {
		o.UserAgent = "plimsoll"
	}
	return o
}

// noLimit stands for a limit that is never met, and can be added to a time.
const noLimit = 100 * 365 * 24 * time.Hour

func defaultTime(d, standard time.Duration) time.Duration {
	switch {
	case d == 0:
		return standard
	case d < 0:
		return noLimit
	}
	return d
}
