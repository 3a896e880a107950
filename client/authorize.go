package client

import (
	"context"
	"net/http"
	"os"
)

// An Authorizer puts a provider's key into requests that are written elsewhere. It is safe
// for concurrent use.
type Authorizer struct{ keys *keys }

// NewAuthorizer returns one for the credentials of p; env looks variables up, nil:
// os.Getenv.
func NewAuthorizer(p Provider, env func(string) string) *Authorizer {
	if env == nil {
		env = os.Getenv
	}
	return &Authorizer{newKeys(p, env)}
}

// Authorize sets the header that carries the key of req. Without a key where none is needed
// req is left alone. The error is a *[NoKeyError], or a *[PlainError] where a key would go
// over http to a host that is not near.
func (a *Authorizer) Authorize(ctx context.Context, req *http.Request) error {
	key, err := a.keys.find(ctx)
	if err != nil || key.key.IsZero() {
		return err
	}
	if req.URL.Scheme == "http" && !isNear(req.URL.Hostname()) {
		return &PlainError{Provider: a.keys.p.Name, Host: req.URL.Host}
	}
	name, before := key.auth.header()
	req.Header.Set(name, before+key.key.Reveal())
	return nil
}
