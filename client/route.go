package client

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
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
	u, err := parseBase(text, p.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("client: provider %s: base URL%s, want http(s)://host/path, got %w", p.Name, prefixed(" from ", from), err)
	}
	return u, nil
}

func prefixed(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// parseBase reads a base URL. One without a scheme (a host and a port, as OLLAMA_HOST
// has) takes what is missing from standard.
func parseBase(text, standard string) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
		if u, err := url.Parse(text); err == nil {
			completeHost(u, standard)
			text = u.String()
		}
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, cmp.Or(parseCause(err), err) // without the text, which could hold a password
	case u.User != nil:
		return nil, fmt.Errorf("one with a name or password in it")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("%q", u.Redacted())
	case u.Fragment != "":
		return nil, fmt.Errorf("one with a fragment: %q", u.Redacted())
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	return u, nil
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
	joined := joinPath(u.EscapedPath(), path)
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

// joinPath puts path below base. The longest end of base that path begins with, in
// whole segments, is not said twice: people write base URLs with and without /v1.
func joinPath(base, path string) string {
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

// CarriesKey reports whether a header or a query parameter of that name is one that a
// key is sent in, or that belongs to the transport. A [Provider] may not state it.
func CarriesKey(name string) bool {
	name = http.CanonicalHeaderKey(strings.TrimSpace(name))
	return slices.Contains(refusedHeaders, name) || slices.Contains([]string{"Key", "Api_key", "Apikey", "Access_token"}, name)
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
