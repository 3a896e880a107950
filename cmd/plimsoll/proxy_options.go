package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/plimsoll-dev/plimsoll/proxy"
)

// The values of --usage.
const (
	usageActual     = "actual"
	usageClientView = "client-view"
)

// The values of --summaries and of --client-compaction.
const (
	summariesCode     = "code"
	summariesClient   = "client"
	compactionsPass   = "pass"
	compactionsAnswer = "answer"
)

// proxyFlags are the flags of plimsoll proxy.
type proxyFlags struct {
	listen, db, policy, config string
	keys, tlsCert, tlsKey      string
	logFormat, record          string
	usage                      string
	summaries, compactions     string
	upstreams, windows         []string
	pingAfter, grace           time.Duration
	maxInFlight                int
	offerTools                 bool
	deferTools                 []string
}

func (f proxyFlags) checkListen(keys *proxy.Keys) error {
	err := proxy.CheckListen(f.listen, keys)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, proxy.ErrOpen):
		return usage(fmt.Errorf("proxy: --listen %s can be reached from other machines, and there are no keys", f.listen),
			"make a key with plimsoll proxy key NAME, put the line into a file and name it with --keys FILE; or listen at "+defaultListen)
	}
	return usage(fmt.Errorf("proxy: --listen %q, want a host and a port: %w", f.listen, errors.Unwrap(err)), "such as "+defaultListen)
}
