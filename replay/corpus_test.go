package replay_test

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// corpusWindows are the windows that every preset has to keep a session within.
var corpusWindows = []string{"100%", "50%", "25%", "80000"}

// mostIrreducible is the share of Steps, in permille, that may be irreducible, over the
// long sessions of all formats and over those of each one.
var mostIrreducible = map[string]int{"100%": 20, "50%": 20, "25%": 100}

// longSession is the largest prompt from which on a conversation is long, in tokens. In
// short ones the system prompt and what a reader of the estimate must allow for are most
// of what there is.
const longSession = 40_000

// corpusFormats are the folders of the corpus with conversations.
var corpusFormats = []string{
	"claude-code", "codex", "copilot-cli", "gemini-cli", "pi", "cline", "opencode", "aider", "swe-agent", "mini-swe-agent", "tau-bench", "openhands",
	"inspect-ai", "truncated", "request-bodies-anthropic", "request-bodies-openai-chat", "request-bodies-openai-responses", "request-bodies-gemini",
}

// TestCorpus runs every session and request body that the corpus lists under every
// preset on every window, and judges each request from its exported bytes.
func TestCorpus(t *testing.T) {
	files := corpusSessions(t)
	var policies []policy.Policy
	for _, name := range policy.Presets() {
		p, err := policy.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		policies = append(policies, p)
	}
	var windows []replay.WindowSpec
	for _, s := range corpusWindows {
		w, err := replay.ParseWindow(s)
		if err != nil {
			t.Fatal(err)
		}
		windows = append(windows, w)
	}
	sum := newSums()
	t.Run("sessions", func(t *testing.T) {
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				s, err := formats.Open(file)
				if err != nil {
					t.Fatal(err)
				}
				r, err := replay.New(replay.Options{Policies: policies, Windows: windows, Judge: true, Every: judgeEvery(s)})
				if err != nil {
					t.Fatal(err)
				}
				err = r.Session(context.Background(), s, func(res replay.Result) error {
					checkResult(t, res)
					sum.add(res)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	})
	sum.check(t)
}

// judgeEvery reports whether every request of a session is judged: of one with very many
// Steps, which would take minutes, those that a later one does not hold.
func judgeEvery(s *sessionfile.Session) bool {
	for _, seg := range s.Segments {
		if seg.Steps() > 300 {
			return false
		}
	}
	return true
}

// corpusSessions returns the session files that INDEX.md lists.
func corpusSessions(t *testing.T) []string {
	root := os.Getenv("PLIMSOLL_CORPUS")
	if root == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: no recorded sessions to replay")
	}
	f, err := os.Open(filepath.Join(root, "INDEX.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var files []string
	for sc := bufio.NewScanner(f); sc.Scan(); {
		name, ok := strings.CutPrefix(sc.Text(), "| ")
		name, _, _ = strings.Cut(name, " ")
		folder, _, _ := strings.Cut(name, "/")
		if ok && slices.Contains(corpusFormats, folder) {
			files = append(files, filepath.Join(root, filepath.FromSlash(name)))
		}
	}
	if len(files) == 0 {
		t.Fatal("INDEX.md lists no session")
	}
	return files
}

// checkResult holds one segment against the laws.
func checkResult(t *testing.T, res replay.Result) {
	if res.NotRun != "" {
		t.Logf("segment %d not run: %s", res.Segment, res.NotRun)
		return
	}
	for _, r := range res.Runs {
		where := fmt.Sprintf("segment %d, %s at %s", res.Segment, r.Policy, r.Window)
		if r.Orphans+r.UnresolvedRefs+r.Uncovered > 0 {
			t.Errorf("%s: want no orphan, unresolved ref or lost part, got %d, %d and %d", where, r.Orphans, r.UnresolvedRefs, r.Uncovered)
		}
		for _, b := range r.RuleBreaks {
			t.Errorf("%s, step %d: the provider would refuse it: %s at %s: %s", where, b.Step, b.Rule, b.Path, b.Message)
		}
		checkFloors(t, res, r, where)
		if r.Policy == "off" {
			if len(r.Edits) > 0 {
				t.Errorf("%s: want no edit, got %v", where, r.Edits)
			}
			continue
		}
		if r.StepsOver > 0 {
			t.Errorf("%s: want every step within %d tokens, got %d over", where, r.Limit, r.StepsOver)
		}
		if r.Steps == 0 || r.TokensSent == 0 && len(r.Irreducible) < r.Steps {
			t.Errorf("%s: %d steps and %d tokens sent, want some", where, r.Steps, r.TokensSent)
		}
		if r.EndedAtStep == 0 && r.Steps != max(res.Steps, 1) {
			t.Errorf("%s: want all %d steps, got %d", where, res.Steps, r.Steps)
		}
	}
}

// checkFloors holds the floors of irreducible Steps against those of the judge, who counts
// text alone. The engine adds what a message costs and the margin of its estimate: 15 % of
// what is new and 600 tokens, or 20 % of everything where nothing was reported, and the lines
// that it left of what it took out. In a short conversation these are most of a floor.
func checkFloors(t *testing.T, res replay.Result, r replay.Run, where string) {
	for _, i := range r.Irreducible {
		if i.Floor <= i.Limit {
			t.Errorf("%s, step %d: want a floor above the limit of %d, got %d", where, i.Step, i.Limit, i.Floor)
		}
		margin := i.Recomputed*15/100 + 1500
		if res.Reported.Peak == 0 {
			margin = i.Recomputed*50/100 + 1500
		}
		if peak(res) >= longSession && i.Recomputed+margin < i.Limit {
			t.Errorf("%s, step %d: want a floor above the limit of %d, got %d by the engine and %d by the judge", where, i.Step, i.Limit, i.Floor, i.Recomputed)
		}
	}
}

type sums struct {
	mu   sync.Mutex
	rows map[rowKey]*row
}

type rowKey struct{ format, policy, window string }

type row struct {
	steps, over, irreducible, backstop, ended, breaks int
	sent, raw                                         int
	cost                                              catalog.Money
}

// allLong is the name of the rows over the long sessions of all formats.
const allLong = "all long"

func newSums() *sums { return &sums{rows: map[rowKey]*row{}} }

func (s *sums) add(res replay.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	format := strings.TrimSuffix(res.Format, "-request")
	groups := []string{format}
	if peak(res) >= longSession && !strings.HasSuffix(res.Format, "-request") { // a request is no session
		groups = append(groups, format+", long", allLong)
	}
	for _, r := range res.Runs {
		if !res.Billing.SimulatedUSD.Known { // of a model without a price what the file states is known of some policies alone
			r.CostUSD = catalog.Money{}
		}
		for _, g := range groups {
			s.row(rowKey{g, r.Policy, r.Window}).add(r)
		}
	}
}

// peak returns the largest prompt of a segment as the client sent it.
func peak(res replay.Result) int {
	most := res.Reported.Peak
	for _, r := range res.Runs {
		if r.Policy == "off" && res.Reported.Peak == 0 {
			most = max(most, r.PeakSent)
		}
	}
	return most
}

func (s *sums) row(k rowKey) *row {
	if s.rows[k] == nil {
		s.rows[k] = &row{cost: catalog.Dollars(0)}
	}
	return s.rows[k]
}

func (x *row) add(r replay.Run) {
	x.steps += r.Steps
	x.over += r.StepsOver
	x.irreducible += len(r.Irreducible)
	x.backstop += r.BackstopEdits
	x.breaks += r.CacheBreaks
	x.sent += r.TokensSent
	x.raw += r.TokensToEnd
	if r.CostUSD.Known { // the same calls under every policy
		x.cost = x.cost.Add(r.CostUSD)
	}
	if r.EndedAtStep > 0 {
		x.ended++
	}
}

func (x *row) permille() int { return x.irreducible * 1000 / max(x.steps, 1) }

// check prints the tables, holds the shares against their bounds and docs/benchmarks.md to the
// tables.
func (s *sums) check(t *testing.T) {
	s.checkLong(t)
	formats := map[string]bool{}
	for k := range s.rows {
		formats[k.format] = true
	}
	delete(formats, allLong)
	t.Logf("%-24s %7s %6s %s", "irreducible of steps", "window", "steps", strings.Join(policy.Presets(), "  "))
	for _, f := range slices.Sorted(maps.Keys(formats)) {
		for _, w := range corpusWindows {
			line := ""
			for _, name := range policy.Presets() {
				x := s.row(rowKey{f, name, w})
				line += fmt.Sprintf("  %*d", len(name), x.irreducible)
				if most, ok := mostIrreducible[w]; ok && strings.HasSuffix(f, ", long") && x.permille() > max(most, 100) {
					t.Errorf("%s, %s at %s: want at most 100 permille of the steps irreducible, got %d", f, name, w, x.permille())
				}
			}
			t.Logf("%-24s %7s %6d%s", f, w, s.row(rowKey{f, "off", w}).steps, line)
		}
	}
	s.checkFormats(t, formats)
}

// checkFormats holds the page to the irreducible Steps of the long sessions of each format, or
// of all where it has none, under the preset that has most.
func (s *sums) checkFormats(t *testing.T, formats map[string]bool) {
	var rows []string
	for _, f := range slices.Sorted(maps.Keys(formats)) {
		if formats[f+", long"] || isBody[f] {
			continue
		}
		row := fmt.Sprintf("| %s | %d |", f, s.row(rowKey{f, "off", "100%"}).steps)
		for _, w := range []string{"100%", "50%", "25%"} {
			most, steps := 0, s.row(rowKey{f, "off", w}).steps
			for _, name := range policy.Presets() {
				most = max(most, s.row(rowKey{f, name, w}).irreducible)
			}
			switch {
			case w == "100%":
				row += fmt.Sprintf(" %d |", most)
			case steps == 0:
				row += " – |"
			default:
				row += fmt.Sprintf(" %d of %d |", most, steps)
			}
		}
		rows = append(rows, row)
	}
	hasRows(t, rows)
}

// isBody are the formats of single requests, which are no sessions.
var isBody = map[string]bool{"anthropic": true, "openai-chat": true, "openai-responses": true, "gemini": true}

// cellOf returns a window as the page has it.
func cellOf(window string) string {
	if share, ok := strings.CutSuffix(window, "%"); ok {
		return share + " %"
	}
	n, err := strconv.Atoi(window)
	if err != nil {
		return window
	}
	return edit.Thousands(n)
}

// checkLong does so for the long sessions of all formats.
func (s *sums) checkLong(t *testing.T) {
	var rows []string
	overflowed := 0
	for _, name := range policy.Presets() {
		for _, w := range corpusWindows {
			x := s.row(rowKey{allLong, name, w})
			if x.steps == 0 {
				t.Errorf("%s at %s: no run", name, w)
			}
			window, n := cellOf(w), edit.Thousands
			rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %d (%d.%d %%) | %d | %d | %d %% | %s |", name, window, n(x.steps), n(x.over), x.irreducible,
				x.permille()/10, x.permille()%10, x.ended, x.breaks, x.sent*100/max(x.raw, 1), x.cost))
			if most, ok := mostIrreducible[w]; ok && x.permille() > most {
				t.Errorf("%s at %s: want at most %d permille of the steps irreducible, got %d", name, w, most, x.permille())
			}
			if name == "off" {
				overflowed += x.over
			}
		}
	}
	hasRows(t, rows)
	if overflowed == 0 {
		t.Error("off overflowed nowhere: the windows test nothing")
	}
}
