package client

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/wire/ollama"
)

// baseOf returns the base URL of p: what the environment states, else its own.
func baseOf(p Provider, env func(string) string) (*url.URL, error) {
	text, from := p.BaseURL, ""
	for _, name := range p.BaseEnv {
		if v := strings.TrimSpace(env(name)); v != "" {
			text, from = v, name
			break
		}
	}
	if text == "" {
		return nil, &BaseURLError{Provider: p.Name, Env: p.BaseEnv}
	}
	u, err := parseBase(text, p.Dialect == ollama.Dialect)
	if err == nil {
		err = checkQuery(u)
	}
	if err != nil {
		return nil, &BaseURLError{Provider: p.Name, Env: p.BaseEnv, From: from, Err: err}
	}
	return u, nil
}

func prefixed(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// ParseBase reads a base URL, as a [Provider] has it. One without a scheme is one of http
// only for this machine. The error does not repeat what can hold a secret.
func ParseBase(text string) (*url.URL, error) {
	u, err := parseBase(text, false)
	if err == nil {
		err = checkQuery(u)
	}
	if err != nil {
		return nil, fmt.Errorf("client: base URL, want an http or https one without keys in it, got %w", err)
	}
	return u, nil
}

// parseBase reads a base URL. One without a scheme (a host and a port, as OLLAMA_HOST has)
// is one of http only for this machine and for Ollama, and takes what is missing from
// Ollama's own: a guess may not send a key where others can read it.
func parseBase(text string, isOllama bool) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		u, err := url.Parse("http://" + text)
		switch {
		case err != nil:
			return nil, cmp.Or(parseCause(err), err)
		case isOllama:
			completeHost(u, "http://127.0.0.1:11434")
		case !IsLoopback(u.Hostname()):
			return nil, fmt.Errorf("one without https:// or http:// in front")
		}
		text = u.String()
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, cmp.Or(parseCause(err), err) // without the text, which could hold a password
	case u.User != nil:
		return nil, fmt.Errorf("one with a name or password in it")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("%q", shown(u))
	case u.Fragment != "":
		return nil, fmt.Errorf("one with a fragment: %q", shown(u))
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	return u, nil
}

// shown returns u without what can hold a secret: name and password, query, fragment.
func shown(u *url.URL) string {
	if u.Opaque != "" {
		return u.Scheme + ":..."
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

// keyLike finds texts that begin as keys and tokens do.
var keyLike = regexp.MustCompile(`^(sk-|Bearer |Basic |AIza|ya29\.|gh[pos]_|eyJ|xox[bp]-)`)

// checkQuery refuses a base URL with a key in its query.
func checkQuery(u *url.URL) error {
	for name, values := range u.Query() {
		if CarriesKey(name) || slices.ContainsFunc(values, keyLike.MatchString) {
			return fmt.Errorf("one with a key in its query parameter %s", name)
		}
	}
	return nil
}

// IsLoopback reports whether a host is this machine, whatever a name server says.
func IsLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && a.Unmap().IsLoopback()
}

// isNear reports whether a host is this machine or one of a private network, as
// [PlainError] lists them.
func isNear(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		a = a.Unmap()
		return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast()
	}
	host = strings.ToLower(host)
	if !strings.Contains(host, ".") {
		return host != "" && (host[0] < '0' || host[0] > '9') // an address can be written as one number
	}
	return slices.ContainsFunc([]string{".localhost", ".local", ".internal", ".lan", ".home.arpa"}, func(end string) bool { return strings.HasSuffix(host, end) })
}

// parseCause returns the error inside one of url.Parse.
func parseCause(err error) error {
	if e, ok := err.(*url.Error); ok { //nolint:errorlint // url.Parse returns it unwrapped
		return e.Err
	}
	return nil
}

// completeHost gives u the port of standard if it has none, and an address that can be
// called if it has one that can only be listened at.
func completeHost(u *url.URL, standard string) {
	s, err := url.Parse(standard)
	if err != nil || s.Host == "" {
		return
	}
	host, port := u.Hostname(), cmp.Or(u.Port(), s.Port())
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = s.Hostname()
	}
	u.Host = net.JoinHostPort(host, port)
	if port == "" {
		u.Host = host
	}
}

// queryOf returns the query parameters of p: those that it states, and those that the
// environment does.
func queryOf(p Provider, env func(string) string) url.Values {
	q := url.Values{}
	for name, variables := range p.QueryEnv {
		for _, v := range variables {
			if value := strings.TrimSpace(env(v)); value != "" {
				q.Set(name, value)
				break
			}
		}
	}
	for name, value := range p.Query {
		q.Set(name, value)
	}
	return q
}

// address returns the URL of a path for a model.
func (c *Client) address(path, model string) string {
	u := *c.base
	path, query, _ := strings.Cut(path, "?")
	path = strings.ReplaceAll(path, "{model}", url.PathEscape(strings.TrimPrefix(model, "models/")))
	// Everything is escaped already; what url.URL would escape again is kept as it is.
	joined := JoinPath(u.EscapedPath(), path)
	if decoded, err := url.PathUnescape(joined); err == nil {
		u.Path, u.RawPath = decoded, joined
	}
	all := u.Query()
	for name, values := range c.query {
		all[name] = values
	}
	more, err := url.ParseQuery(query)
	if err == nil { // the table's own
		for name, values := range more {
			all[name] = values
		}
	}
	u.RawQuery = all.Encode()
	return u.String()
}

// JoinPath puts path below base. The longest end of base that path begins with, in
// whole segments, is not said twice: people write base URLs with and without /v1.
func JoinPath(base, path string) string {
	for i := 0; i < len(base); i++ {
		if base[i] != '/' {
			continue
		}
		end := base[i:]
		if rest, ok := strings.CutPrefix(path, end); ok && (rest == "" || rest[0] == '/') {
			return base + rest
		}
	}
	return base + path
}

// refusedHeaders are those that a provider's own headers may not state: the ones that
// carry keys, and the ones that belong to the transport.
var refusedHeaders = []string{
	"Authorization", "Proxy-Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie",
	"Connection", "Content-Length", "Host", "Transfer-Encoding", "Accept-Encoding",
}

// keyNames are what headers and query parameters are called that carry keys, without
// dashes and underscores.
var keyNames = []string{
	"key", "apikey", "xapikey", "xgoogapikey", "subscriptionkey", "ocpapimsubscriptionkey", "accesskey", "token", "apitoken", "accesstoken", "authtoken",
	"xauthtoken", "auth", "bearer", "secret", "clientsecret", "password", "credential", "credentials", "sig", "signature",
}

// CarriesKey reports whether a header or a query parameter of that name is one that a
// key is sent in, or that belongs to the transport. A [Provider] may not state it.
func CarriesKey(name string) bool {
	name = strings.TrimSpace(name)
	folded := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))
	return slices.Contains(refusedHeaders, http.CanonicalHeaderKey(name)) || slices.Contains(keyNames, folded)
}

// checkNames refuses headers and query parameters that [CarriesKey] names.
func checkNames(p Provider) error {
	for _, list := range []struct {
		what string
		all  map[string]string
	}{{"header", p.Headers}, {"query parameter", p.Query}} {
		for name := range list.all {
			if CarriesKey(name) {
				return fmt.Errorf("client: provider %s: %s %s, want none that carries a key or belongs to the transport", p.Name, list.what, name)
			}
		}
	}
	return nil
}

// sameOrigin is the redirect policy: one within the origin that repeats the request is
// followed; any other is the answer. net/http would carry x-api-key headers and the
// prompt to another host.
func sameOrigin(next *http.Request, via []*http.Request) error {
	const most = 3
	first := via[0]
	if next.URL.Scheme != first.URL.Scheme || next.URL.Host != first.URL.Host || next.Method != first.Method || len(via) > most {
		return http.ErrUseLastResponse
	}
	return nil
}
