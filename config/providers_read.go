package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A settingsReader reads one file of settings and gathers what is wrong with it.
type settingsReader struct {
	known     Known
	untrusted bool               // the file stands where somebody else may have put it
	described []ProviderSettings // by another file, so that this one need not say their kind
	file      string             // as errors name it
	folder    string             // of the file; empty: there is none, and nothing is looked at
	facts     []ModelLimits
	tools     FileTools
	problems  []problem
}

// parse returns what can be read of a file, and what is wrong with it.
func (r *settingsReader) parse(name string, data []byte) (Settings, error) {
	var s Settings
	r.file = name
	tree, err := read(name, data)
	switch p, ok := errors.AsType[*problem](err); {
	case ok:
		r.problems = []problem{*p}
	case err != nil:
		r.problems = []problem{{what: err.Error()}}
	case tree.kind != object:
		r.fault(tree, "want model, providers, models and so on, got %s", describe(tree))
	default:
		s = r.settings(tree)
	}
	if len(r.problems) == 0 {
		return s, nil
	}
	slices.SortStableFunc(r.problems, func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.at.line, b.at.line), cmp.Compare(a.at.column, b.at.column))
	})
	e := &SettingsError{FileError{File: name}}
	for _, p := range r.problems {
		e.Problems = append(e.Problems, Problem{Line: p.at.line, Column: p.at.column, Text: p.what})
	}
	return s, e
}

func (r *settingsReader) fault(n *node, format string, args ...any) {
	r.problems = append(r.problems, problem{n.at, fmt.Sprintf(format, args...)})
}

func (r *settingsReader) settings(tree *node) Settings {
	var s Settings
	for _, m := range tree.members {
		switch {
		case m.name == "model":
			s.Model = r.text("model", m.value)
			if provider, model, _ := strings.Cut(s.Model, "/"); provider == "" || model == "" {
				r.fault(m.value, "model: want provider/model, got %s", describe(m.value))
			}
		case m.name == "providers" && (m.value.kind == object || m.value.kind == null):
			for _, p := range m.value.members {
				s.Providers = append(s.Providers, r.provider(p.name, p.value))
			}
		case m.name == "providers":
			r.fault(m.value, "providers: want names with their settings, got %s", describe(m.value))
		case m.name == "models":
			s.Models = r.models(m.value)
			s.Facts = r.facts
		case m.name == "defaults":
			r.defaults(&s, m.value)
		case m.name == outputsSection:
			r.outputs(&s, m.value)
		case m.name == compactionSection:
			s.Defaults.Compaction = new(Compaction)
			r.compaction(s.Defaults.Compaction, m.value)
		case m.name == agentSection:
			r.agent(&s.Agent, m.value)
		case m.name == contextSection:
			s.Loop = r.context(m.value)
		case r.toolList(&r.tools.All, m.name, m):
		case isKeyName(m.name):
			r.literalKey(m.name, m.value)
		default:
			r.fault(m.value, "%s", wrongField(m.name, m.name, settingsFields))
		}
	}
	if r.tools.All.Allowed.Set() || r.tools.All.Denied.Set() || len(r.tools.Models) > 0 {
		s.Tools = []FileTools{r.tools}
	}
	r.room(s)
	return s
}

func (r *settingsReader) provider(name string, n *node) ProviderSettings {
	p := ProviderSettings{Name: name, Kind: name}
	if old, ok := (Settings{Providers: r.described}).Provider(name); ok {
		p.Kind = old.Kind
	}
	path := "providers." + name
	if name == "" || strings.ContainsAny(name, "/ \t\n") {
		r.fault(n, "%s: want a name without a slash or a space", path)
	}
	if n.kind != object && n.kind != null {
		r.fault(n, "%s: want the settings of a provider, got %s", path, describe(n))
		return p
	}
	for _, m := range n.members {
		r.field(&p, path+"."+m.name, m)
	}
	if kind, ok := r.known.Aliases[p.Kind]; ok {
		p.Kind = kind
	}
	if !slices.Contains(r.known.Kinds, p.Kind) {
		at, got := n, fmt.Sprintf("%q", p.Kind)
		if k := n.get("kind"); k != nil {
			at, got = k, describe(k)
		}
		r.fault(at, "%s.kind: want one of %s, got %s%s", path, strings.Join(r.known.Kinds, ", "), got, meant(p.Kind, r.known.Kinds))
	}
	if p.KeyEnv != "" && len(p.KeyCommand) > 0 {
		r.fault(n, "%s: want keyEnv or keyCommand, got both", path)
	}
	return p
}

func meant(word string, known []string) string {
	if near := policy.Nearest(word, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// field reads one field of a provider.
func (r *settingsReader) field(p *ProviderSettings, path string, m member) {
	switch m.name {
	case "kind":
		p.Kind = r.text(path, m.value)
	case "baseURL":
		p.BaseURL = r.baseURL(path, m.value)
	case "keyEnv":
		p.KeyEnv = r.keyEnv(path, m.value)
	case "keyCommand":
		p.KeyCommand = r.keyCommand(path, m.value)
	case "headers":
		p.Headers = r.table(path, m.value)
	case "query":
		p.Query = r.table(path, m.value)
	case "models":
		r.providerModels(p, path, m.value)
	default:
		switch {
		case r.limit(&p.Limits, inProvider, path, m):
		case isKeyName(m.name):
			r.literalKey(path, m.value)
		default:
			r.fault(m.value, "%s", wrongField(path, m.name, providerFields))
		}
	}
}

// isKeyName reports whether a field looks as if a key should stand in it.
func isKeyName(name string) bool {
	return slices.Contains([]string{
		"key", "apikey", "token", "apitoken", "authtoken", "accesstoken", "bearer", "secret", "password", "auth", "authorization", "credentials",
	}, folded(name))
}

// literalKey refuses a key without repeating it.
func (r *settingsReader) literalKey(path string, n *node) {
	r.fault(n, "%s: want no key in a file; keyEnv names an environment variable that holds it, keyCommand a program that prints it", path)
}

// keyLike finds texts that begin as keys and tokens do.
var keyLike = regexp.MustCompile(`^(sk-|Bearer |Basic |AIza|ya29\.|gh[pos]_|eyJ|xox[bp]-)`)

// text reads a text. A number or flag that stands where a text is wanted is taken as it
// is written.
func (r *settingsReader) text(path string, n *node) string {
	if n.kind != text && n.kind != number && n.kind != flag || n.text == "" {
		r.fault(n, "%s: want a text, got %s", path, describe(n))
		return ""
	}
	return n.text
}

func (r *settingsReader) texts(path string, n *node) []string {
	if n.kind != list || len(n.items) == 0 {
		r.fault(n, "%s: want a list of texts, got %s", path, kindOf(n))
		return nil
	}
	var out []string
	for i, item := range n.items {
		out = append(out, r.text(fmt.Sprintf("%s[%d]", path, i), item))
	}
	return out
}

// kindOf is describe for values that had better not be repeated.
func kindOf(n *node) string {
	if n.kind == text {
		return "a text"
	}
	return describe(n)
}

// table reads headers or query parameters.
func (r *settingsReader) table(path string, n *node) map[string]string {
	if n.kind != object {
		r.fault(n, "%s: want names and values, got %s", path, kindOf(n))
		return nil
	}
	out := map[string]string{}
	for _, m := range n.members {
		at := path + "." + m.name
		if r.carriesKey(m.name, m.value.text) {
			r.literalKey(at, m.value)
			continue
		}
		out[m.name] = r.text(at, m.value)
		if strings.ContainsAny(m.name+out[m.name], "\r\n\x00") {
			r.fault(m.value, "%s: want one line", at)
		}
	}
	return out
}

func (r *settingsReader) baseURL(path string, n *node) string {
	s := r.text(path, n)
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	switch {
	case err == nil && u.User != nil:
		r.literalKey(path, n)
		return ""
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		r.fault(n, "%s: want http:// or https:// with a host, got another text", path)
		return ""
	case r.keyInQuery(u):
		r.literalKey(path, n)
		return ""
	case r.untrusted && !isLoopback(u.Hostname()):
		r.distrust(path, n, "only send requests to this machine")
	}
	return s
}

// carriesKey reports whether a header or query parameter is a key.
func (r *settingsReader) carriesKey(name, value string) bool {
	return isKeyName(name) || r.known.CarriesKey != nil && r.known.CarriesKey(name) || keyLike.MatchString(value)
}

// keyInQuery reports whether a base URL has a key in its query, which errors and hints
// could show.
func (r *settingsReader) keyInQuery(u *url.URL) bool {
	for name, values := range u.Query() {
		if slices.ContainsFunc(values, func(v string) bool { return r.carriesKey(name, v) }) {
			return true
		}
	}
	return false
}

// isLoopback reports whether a host is this machine, whatever a name server says.
func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// distrust refuses what a file in the working folder may not say.
func (r *settingsReader) distrust(path string, n *node, may string) {
	r.fault(n, "%s: a file in the working folder may %s; put this into the file in your own configuration folder, or name the file with --config", path, may)
}

var envName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

func (r *settingsReader) keyEnv(path string, n *node) string {
	s := r.text(path, n)
	switch {
	case s == "":
	case !envName.MatchString(s): // it may be the key: it is not repeated
		r.fault(n, "%s: want the name of an environment variable (capitals, digits, _), got another text", path)
		return ""
	case r.untrusted:
		r.distrust(path, n, "not say where a key is")
	}
	return s
}

func (r *settingsReader) keyCommand(path string, n *node) []string {
	if r.untrusted {
		r.distrust(path, n, "not run a program")
		return nil
	}
	if n.kind != list {
		r.fault(n, "%s: want a list, the program and its arguments (no shell is involved), got %s", path, kindOf(n))
		return nil
	}
	return r.texts(path, n)
}
