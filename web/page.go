package web

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"
)

// Options say how a page is written.
type Options struct {
	Title     string    // of the page; empty, or with Redact: what the page is about
	Redact    bool      // leave out whatever may be a text, path or name of the session
	Generated time.Time // printed on the page in UTC; zero: nothing is printed
}

//go:embed assets
var assets embed.FS

// A sheet is what every page has around its content.
type sheet struct {
	Kind      string // "replay", "inspect" or "loop"
	Title     string
	Generated string
	Redacted  bool
	Themed    bool // a script lets the reader choose between light and dark

	CSP   string
	Style template.CSS
}

// set takes what the options say of a page.
func (s *sheet) set(o Options) {
	if o.Title != "" && !o.Redact {
		s.Title = clean(o.Title)
	}
	s.Redacted = o.Redact
	if !o.Generated.IsZero() {
		s.Generated = o.Generated.UTC().Format("2006-01-02 15:04 UTC")
	}
}

// load reads the styles of a page, and lets a browser use them and nothing besides but scripts.
func (s *sheet) load(styles []string, scripts ...string) error {
	style, err := asset(styles...)
	if err != nil {
		return err
	}
	s.Style = template.CSS(style) // our own files: nothing of a session is in them
	s.CSP = "default-src 'none';"
	if len(scripts) > 0 {
		s.CSP += " script-src"
	}
	for _, text := range scripts {
		s.CSP += " " + source(text)
	}
	if len(scripts) > 0 {
		s.CSP += ";"
	}
	s.CSP += " style-src " + source(style) + "; base-uri 'none'; form-action 'none'"
	return nil
}

// asset reads files that are embedded, one behind the other.
func asset(names ...string) (string, error) {
	var text strings.Builder
	for _, name := range names {
		b, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return "", fmt.Errorf("web: assets: %w", err)
		}
		text.Write(b)
	}
	return text.String(), nil
}

// A page is what the template gets.
type page struct {
	sheet
	Library template.JS
	Script  template.JS

	Overview *table // of all groups; nil if there is one
	Policies []choice
	Windows  []choice
	Groups   []group
	Data     data
	Talk     *said // what was said; nil: the page does not have it
}

// A choice is one of the radio buttons of the chart.
type choice struct {
	Index   int
	Name    string
	Checked bool
}

// A group is what the charts show at a time: a segment of a session.
type group struct {
	Index  int
	Name   string
	Lead   string // one sentence
	Facts  []fact
	Plot   *plot // nil: there is nothing to compare
	Said   int   // how many messages of the conversation the page has
	Tables []table
}

// titleOf names a page by the sessions it is about.
func titleOf(kind string, sessions []string) string {
	distinct := slices.Compact(slices.Sorted(slices.Values(sessions)))
	switch len(distinct) {
	case 0:
		return kind
	case 1:
		return kind + " of " + clean(base(distinct[0]))
	}
	return kind + " of " + count(len(distinct)) + " sessions"
}

// segmentName names a group.
func segmentName(session string, segment int) string {
	return clean(fmt.Sprintf("%s, segment %d", base(session), max(segment, 1)))
}

// where says which file a segment is from, if its name does not.
func where(session string) string {
	if base(session) == session {
		return ""
	}
	return "; " + session
}

// write fills the template. The error is that of w, or of the template itself.
func write(w io.Writer, p *page, o Options) error {
	p.set(o)
	if err := p.load(); err != nil {
		return err
	}
	t, err := template.ParseFS(assets, "assets/page.html")
	if err != nil {
		return fmt.Errorf("web: template: %w", err)
	}
	if err := t.Execute(w, p); err != nil {
		return fmt.Errorf("web: write page: %w", err)
	}
	return nil
}

// load reads what is embedded.
func (p *page) load() error {
	library, err := asset("uplot/uPlot.iife.min.js")
	if err != nil {
		return err
	}
	script, err := asset("data.js", "chart.js", "said.js", "page.js")
	if err != nil {
		return err
	}
	p.Library, p.Script, p.Themed = template.JS(library), template.JS(script), true
	return p.sheet.load([]string{"uplot/uPlot.min.css", "page.css", "chart.css", "said.css"}, library, script)
}

// source returns a hash source of a content security policy.
func source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
