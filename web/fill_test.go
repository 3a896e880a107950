package web_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/web"
)

// fill sets every field that v leads to: strings by text, which is told the field's path,
// numbers to small ones that are true wherever a program checks for more than 0, lists and
// maps to two members.
func fill(v reflect.Value, path string, text func(path string) string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text(path))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(7))
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), path, text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), fmt.Sprintf("%s[%d]", path, i), text)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for i := range 2 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, fmt.Sprintf("%s key %d", path, i), text)
			fill(value, path, text)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), path+"."+v.Type().Field(i).Name, text)
			}
		}
	default:
		panic("fill: what to put into " + path + " of kind " + v.Kind().String())
	}
}

// filledResults returns results with every string set by text.
func filledResults(text func(path string) string) []replay.Result {
	out := make([]replay.Result, 2)
	for i := range out {
		fill(reflect.ValueOf(&out[i]).Elem(), fmt.Sprintf("result%d", i), text)
		for r := range out[i].Runs {
			for s := range out[i].Runs[r].Series {
				out[i].Runs[r].Series[s].Step = s + 1
			}
		}
	}
	out[1].NotRun = "" // of the two, one is run
	return out
}

// filledReports does the same for reports.
func filledReports(text func(path string) string) []inspect.Report {
	out := make([]inspect.Report, 2)
	for i := range out {
		fill(reflect.ValueOf(&out[i]).Elem(), fmt.Sprintf("report%d", i), text)
		for s := range out[i].Segments {
			out[i].Segments[s].Number = 7 // that is where the lists' entries are
			for k := range out[i].Segments[s].Steps {
				out[i].Segments[s].Steps[k].Step = k + 1
			}
		}
	}
	return out
}

// a pageKind writes one kind of page.
type pageKind struct {
	name  string
	plots int // that are drawn in the page
	write func(w io.Writer, text func(string) string, o web.Options) error
}

var pageKinds = []pageKind{
	{"replay", 2, func(w io.Writer, text func(string) string, o web.Options) error {
		return web.WriteReplay(w, filledResults(text), o)
	}},
	{"inspect", 0, func(w io.Writer, text func(string) string, o web.Options) error {
		return web.WriteInspect(w, filledReports(text), o)
	}},
}

// render returns a page whose strings are all set by text.
func (k pageKind) render(t *testing.T, text func(string) string, o web.Options) string {
	t.Helper()
	var b strings.Builder
	if err := k.write(&b, text, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// ordinary is a text for each field that is like what stands there.
func ordinary(path string) string {
	switch {
	case strings.HasSuffix(path, ".Policy"):
		return "balanced"
	case strings.HasSuffix(path, ".Window"):
		return "80000"
	case strings.HasSuffix(path, ".Session"):
		return "/home/someone/night.jsonl"
	}
	return "word"
}

var rawText = regexp.MustCompile(`(?s)(<(script|style)[^>]*>)(.*?)(</(?:script|style)>)`)

// elements parses a page and returns its elements in order; script and style without
// what is in them. It fails on markup that is not nested as it should be.
func elements(t *testing.T, page string) []xml.StartElement {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(rawText.ReplaceAllString(page, "$1$4")))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var out []xml.StartElement
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("page is not well nested: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok {
			out = append(out, e.Copy())
		}
	}
}

// attribute returns an element's attribute, "" if it has none.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// long returns a result as large as they come: policies on windows, with n Steps each.
func long(n int) replay.Result {
	res := replay.Result{Schema: replay.Schema, Session: "long.jsonl", Format: "claude-code", Segment: 1, Start: "root", Model: "m", Steps: n}
	for _, policy := range []string{"off", "guard", "cache-compact", "layered", "turn-budget", "balanced"} {
		for _, window := range []string{"100%", "50%", "80000"} {
			run := replay.Run{Policy: policy, Window: window, Limit: 180_000, Steps: n, CostUSD: catalog.Dollars(1e12), Edits: map[string]int{"stub": n}}
			for i := range n {
				by := map[string]int{
					"hidden": 5000, "system": 4000, "tools": 9000, "notes": 800 + i, "human": 300 + i/40, "model": 60 * i % 9000,
					"thinking": 37 * i % 5000, "calls": 91 * i % 20000, "outputs": 700 * i % 120_000, "stubs": 13 * i % 7000,
				}
				p := replay.Point{Step: i + 1, By: by, Raw: 60 * i, Read: 50 * i % 160_000, CostUSD: catalog.Dollars(int64(i) * 1e6)}
				for _, tokens := range by {
					p.Tokens += tokens
				}
				if i%3 == 0 {
					p.Edits = []replay.Change{{Rule: "batch", Kind: "stub", Why: "demoted in a batch", Count: 1 + i%4, Before: 900 + i, After: 60}}
				}
				run.Series = append(run.Series, p)
			}
			res.Runs = append(res.Runs, run)
		}
	}
	return res
}
