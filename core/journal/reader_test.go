package journal_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/journal"
)

// frequent are the kinds of which a session has many.
var frequent = []journal.Kind{journal.KindMessage, journal.KindEdit, journal.KindUsage, journal.KindState}

// TestFrequentKindsAreReadWithoutEncodingJSON holds for all that is UTF-8 and no number of
// more than 18 digits.
func TestFrequentKindsAreReadWithoutEncodingJSON(t *testing.T) {
	read := map[journal.Kind]int{}
	long := regexp.MustCompile(`\d{19}`)
	rapid.Check(t, func(t *rapid.T) {
		r := drawRecord(t)
		line, err := journal.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(frequent, r.Kind) || bytes.Contains(line, []byte(`"b64":`)) || long.Match(line) {
			return
		}
		if itself, err := journal.ReadsItself(line); !itself || err != nil {
			t.Fatalf("encoding/json had to read %s (%v)", line, err)
		}
		read[r.Kind]++
	})
	for _, line := range fixture(t, 2, len(formats())) {
		if itself, err := journal.ReadsItself(line); err != nil {
			t.Error(err)
		} else if itself {
			read[kindOf(line)]++
		}
	}
	for _, k := range frequent {
		if read[k] == 0 {
			t.Errorf("no record of kind %s was read", k)
		}
	}
}

func kindOf(line []byte) journal.Kind {
	r, err := journal.Decode(line)
	if err != nil {
		return ""
	}
	return r.Kind
}

// TestReaderAgreesWithEncodingJSON tries lines that were written and then damaged.
func TestReaderAgreesWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line, err := journal.Encode(drawRecord(t))
		if err != nil {
			t.Fatal(err)
		}
		agree(t, line)
		for range rapid.IntRange(1, 4).Draw(t, "damages") {
			line = damaged(t, line)
			agree(t, line)
		}
	})
}

// damaged changes a line in one place.
func damaged(t *rapid.T, line []byte) []byte {
	if len(line) == 0 {
		return line
	}
	at := rapid.IntRange(0, len(line)-1).Draw(t, "at")
	to := rapid.IntRange(at, min(at+20, len(line))).Draw(t, "to")
	insert := rapid.SampledFrom([]string{
		"", " ", `"`, `\`, `\n`, `\u0041`, `\ud83d\ude00`, `\ud800`, "\u0000", "\n", "é", "0", "00", "-", "1e3", "1.0", ",", ":", "{", "}", "[", "]", "{}", "[]",
		"null", "true", `,"text":"x"`, `"TEXT":"x",`, `"id":7,`, `,"id":7`, `,"edit":9`, `,"more":[{"a":null}]`, string(line[at:to]),
	}).Draw(t, "insert")
	return slices.Concat(line[:at], []byte(insert), line[to:])
}

type failer interface {
	Fatalf(format string, args ...any)
}

// agree fails if a line is read without encoding/json, and not as that would read it.
func agree(t failer, line []byte) {
	if _, err := journal.ReadsItself(line); err != nil {
		t.Fatalf("%s\n%v", line, err)
	}
}

// TestAStateThatIsNotReadIsNoFault: of all states a restart reads the newest.
func TestAStateThatIsNotReadIsNoFault(t *testing.T) {
	const bad, good = `{"v":2,"kind":"state","state":{"edit":3,"reports":"many"}}`, `{"v":2,"kind":"state","state":{"edit":1,"reports":4}}`
	read := func(lines ...string) (journal.Snapshot, error) {
		return journal.Collect(journal.Read(func(yield func([]byte, error) bool) {
			for _, l := range lines {
				line := []byte(l)
				if !yield(line, nil) {
					return
				}
				clear(line)
			}
		}))
	}
	s, err := read(bad, good)
	if err != nil || s.State == nil || s.State.Reports != 4 || s.LastEdit != 3 {
		t.Errorf("want the newest state and the highest number, got %+v, %d (%v)", s.State, s.LastEdit, err)
	}
	if _, err := read(good, bad); err == nil || !strings.Contains(err.Error(), "journal: collect: state:") {
		t.Errorf("want an error about the newest state, got %v", err)
	}
	if _, err := journal.Decode([]byte(bad)); err == nil || !strings.Contains(err.Error(), "journal: decode state:") {
		t.Errorf("want an error, got %v", err)
	}
}
