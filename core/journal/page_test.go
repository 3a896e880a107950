package journal_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/meter"
)

// written returns records as a store has them.
func written(t *testing.T, records ...journal.Record) [][]byte {
	t.Helper()
	lines := make([][]byte, len(records))
	for i, r := range records {
		l, err := journal.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		lines[i] = l
	}
	return lines
}

func stateOf(messages int) journal.Record {
	return journal.Record{Kind: journal.KindState, State: &journal.State{
		LastEdit: 3, Reports: 7, Sent: journal.Sent{Target: "p/m", Messages: messages}, Targets: strings.Repeat("t", 500),
	}}
}

// TestPageOfRecords: of the states only the last is whole, and a page says what is shown as
// the document's table has it.
func TestPageOfRecords(t *testing.T) {
	lines := written(t, human(1), reply(2), human(3), stateOf(3), call(4), result(5), stateOf(5), call(6))
	short, err := journal.Shorten(lines, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range lines {
		if i != 3 && string(short[i]) != string(lines[i]) {
			t.Errorf("line %d was changed to %s", i, short[i])
		}
	}
	if len(short[3]) > len(lines[3])/3 {
		t.Errorf("the first state still has %d bytes of %d", len(short[3]), len(lines[3]))
	}
	data, err := journal.EncodePage(journal.Page{From: 2, To: 10, Lines: short, Shown: journal.Shown{Tokens: 12, Messages: []llm.Message{
		human(1).Message, call(2).Message, result(3).Message,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(data), "\n")
	const want = `{"plimsoll":2,"from":2,"to":10,"token_count":12,"messages":[{"role":"user","content":[{"type":"text","text":"do it"}]},` +
		`{"role":"assistant","content":[{"type":"tool_call","id":"c","name":"read"}]},{"role":"tool","content":[{"type":"tool_result","text":"long","id":"c"}]}]}`
	if head != want {
		t.Errorf("got %s\nwant %s", head, want)
	}
	if p, err := journal.DecodePage(data); err != nil || p.From != 2 || p.To != 10 || string(p.Lines[5]) != string(lines[5]) {
		t.Errorf("read back: %+v (%v)", p, err)
	}
}

// TestPageRefused: what is no page of this version, or not all of one, is not read.
func TestPageRefused(t *testing.T) {
	good, err := journal.EncodePage(journal.Page{To: 2, Lines: written(t, human(1), call(2))})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"nothing":        "",
		"an older one":   strings.Replace(string(good), `"plimsoll":2`, `"plimsoll":0`, 1),
		"a newer one":    strings.Replace(string(good), `"plimsoll":2`, `"plimsoll":3`, 1),
		"a line missing": string(good[:strings.LastIndex(strings.TrimSpace(string(good)), "\n")]),
		"other data":     "snapshot",
	} {
		if p, err := journal.DecodePage([]byte(data)); err == nil {
			t.Errorf("%s: want an error, got %+v", name, p)
		}
	}
	if _, err := journal.EncodePage(journal.Page{From: 1, To: 4}); err == nil {
		t.Error("a page of three records without lines was written")
	}
}

// TestForkFromAPage: the state of a moment within a page is only in the records.
func TestForkFromAPage(t *testing.T) {
	lines := written(t, human(1), reply(2), human(3), stateOf(3), call(4), result(5), stateOf(5), call(6))
	short, err := journal.Shorten(lines, nil)
	if err != nil {
		t.Fatal(err)
	}
	fork := written(t, journal.Record{Kind: journal.KindFork, Fork: journal.Fork{Parent: "p", At: 4}})
	if _, err := journal.Collect(journal.Read(journal.Lines(append(short, fork...)))); err == nil || !strings.Contains(err.Error(), "only in the records") {
		t.Errorf("want an error about the state, got %v", err)
	}
	if s, err := journal.Collect(journal.Read(journal.Lines(append(lines, fork...)))); err != nil || len(s.Messages) != 4 || s.State == nil {
		t.Errorf("the records: %+v (%v)", s, err)
	}
}

// TestPageBesideAReport: a size that was reported belongs to a reply that may never have come,
// which only the whole state says.
func TestPageBesideAReport(t *testing.T) {
	report := journal.Record{Kind: journal.KindUsage, Usage: journal.Usage{Usage: llm.Usage{Input: 10, Output: 5}, Reported: true, Output: true}}
	awaited := journal.Record{Kind: journal.KindState, State: &journal.State{Meters: []journal.MeterState{{Key: "k", State: meter.State{Awaited: &meter.Awaited{Output: 5}}}}}}
	for name, between := range map[string]journal.Record{"it is awaited": awaited, "it never came": stateOf(1)} {
		lines := written(t, human(1), report, between, stateOf(1), call(2), stateOf(2))
		short, err := journal.Shorten(lines, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := journal.Collect(journal.Read(journal.Lines(lines)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := journal.Collect(journal.Read(journal.Lines(short))); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v (%v)\nwant %+v", name, got, err, want)
		}
	}
}
