package web

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"

	"github.com/plimsoll-dev/plimsoll/advice"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/ground"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// other stands for a word that is in no list.
const other = "other"

// A redactor makes copies that can be shared. It copies numbers, and words that are in
// a list; it knows what may stay, not what must go.
type redactor struct {
	catalog  catalog.Catalog
	formats  []string // and the clients called after them
	rules    []string
	counters []string // estimators of presets
	advice   []string // names of the rules that findings are by
	sessions map[string]int
	policies map[string]int
	windows  map[string]int
	tools    map[string]int
}

func newRedactor() (*redactor, error) {
	c, err := catalog.Load()
	if err != nil {
		return nil, fmt.Errorf("web: redact: %w", err)
	}
	r := &redactor{catalog: c, rules: []string{"backstop"}, sessions: map[string]int{}, policies: map[string]int{}, windows: map[string]int{}, tools: map[string]int{}}
	for _, rule := range advice.Rules() {
		r.advice = append(r.advice, rule.Name)
	}
	for _, f := range formats.Formats() {
		r.formats = append(r.formats, string(f))
	}
	for _, name := range policy.Presets() {
		p, err := policy.Preset(name)
		if err != nil {
			return nil, fmt.Errorf("web: redact: %w", err)
		}
		r.counters = append(r.counters, p.Estimator)
		for _, rule := range p.Rules {
			r.rules = append(r.rules, rule.Name)
		}
	}
	return r, nil
}

// words that the packages which fill a Result or a Report choose from.
var (
	startWords = []string{
		string(sessionfile.StartRoot), string(sessionfile.StartCompaction), string(sessionfile.StartMicrocompaction),
		string(sessionfile.StartRollback), string(sessionfile.StartResumed),
	}
	whyWords    = []string{sessionfile.WhyAbandoned, sessionfile.WhySubAgent, sessionfile.WhyRolledBack}
	kinWords    = []string{string(sessionfile.KinAgent), string(sessionfile.KinFork)}
	figureWords = []string{
		string(sessionfile.FigureCalls), string(sessionfile.FigurePrompt), string(sessionfile.FigureInput), string(sessionfile.FigureCacheRead),
		string(sessionfile.FigureCacheWrite), string(sessionfile.FigureOutput), string(sessionfile.FigureReasoning), string(sessionfile.FigureCost),
	}
	costWords = []string{inspect.CostStated, inspect.CostReported, inspect.CostEstimated}
	kindWords = []string{"exact", "client", "calibrated", "estimated", "reported", "measured", "assumed", "none"}
	editWords = texts(edit.Kinds())
	endWords  = []string{
		string(engine.ReasonContext), string(engine.ReasonMaxTurns), string(engine.ReasonStatusCompleted), string(engine.ReasonStatusOnly),
		string(engine.ReasonTaskCompleted), string(engine.ReasonRetries), string(engine.ReasonUserStop),
	}
	partWords  = []string{"system", "tools", "pins", "open_calls", "newest_round", "margin"} // of a floor
	causeWords = []string{
		inspect.CauseLapsed, inspect.CauseModel, inspect.CauseCompacted, inspect.CauseCleared, inspect.CauseRolledBack,
		inspect.CauseRewritten, inspect.CauseThinking, inspect.CauseHidden, inspect.CauseUnknown,
	}
	howWords     = []string{inspect.EndRefused, inspect.EndStopped, inspect.EndLimit, inspect.EndAnswered, inspect.EndOpen, inspect.EndWaits}
	classWords   = classes()
	whereWords   = []string{"reachable", "archived", "lost"} // of a replay.Missing
	spanWords    = each(ground.Kinds(), ground.Kind.String)
	baseWords    = texts(replay.Bases())
	cutWords     = []string{"compaction", "microcompaction", "rollback", "resumed"}
	placeWords   = []string{"hidden", "section", "tool", "message"}
	callWords    = []string{"interrupted", "open"}
	carriedWords = []string{"kept", "dropped", "unknown"}
)

// windowForm is how a window is asked for: see replay.ParseWindow.
var windowForm = regexp.MustCompile(`^([0-9][0-9_]{0,11}[k%]?|model)$`)

// classes are the names of the classes of errors.
func classes() []string {
	var out []string
	for c := wire.Unclassified; c <= wire.ServerFault; c++ {
		out = append(out, c.String())
	}
	return out
}

// in returns a word that is in the list; an empty one stays empty.
func in(list []string, word string) string {
	if word == "" || slices.Contains(list, word) {
		return word
	}
	return other
}

// named gives a name to each distinct text.
func named(seen map[string]int, prefix, text string) string {
	n, ok := seen[text]
	if !ok {
		n = len(seen) + 1
		seen[text] = n
	}
	return fmt.Sprintf("%s %d", prefix, n)
}

func (r *redactor) session(path string) string { return named(r.sessions, "session", path) }

func (r *redactor) policy(name string) string {
	if slices.Contains(policy.Presets(), name) {
		return name
	}
	return named(r.policies, "policy", name)
}

func (r *redactor) window(name string) string {
	if windowForm.MatchString(name) {
		return name
	}
	return named(r.windows, "window", name)
}

// tool numbers the tools: the name of one that a user brought along says what they do.
func (r *redactor) tool(name string) string {
	if name == "" {
		return ""
	}
	return named(r.tools, "tool", name)
}

// source keeps what is no tool.
func (r *redactor) source(name string) string {
	if slices.Contains(replay.Sources(), name) {
		return name
	}
	return r.tool(name)
}

func (r *redactor) rule(name string) string {
	if slices.Contains(r.rules, name) {
		return name
	}
	return "rule"
}

// model returns the catalogue's own name: a name as it was used can hold a host or an
// organisation.
func (r *redactor) model(name string) string {
	if name == "" || name == inspect.NoModel {
		return name
	}
	if m, ok := r.catalog.Lookup(name); ok {
		return m.ID
	}
	return "unknown model"
}

// id returns a hash, the same for the same id.
func id(s string) string {
	if s == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// byWord copies numbers by words of a list; the rest is summed under other.
func byWord(m map[string]int, list []string) map[string]int {
	if m == nil {
		return nil
	}
	out := make(map[string]int, len(m))
	for k, n := range m {
		out[in(list, k)] += n
	}
	return out
}

// contentWords are the names of the contents.
func contentWords() []string {
	list := make([]string, token.NumContents)
	for c := range list {
		list[c] = token.Content(c).String()
	}
	return list
}

// problemKind says what a problem is about without its text.
const problemKind = "could not be read as it should be"

// presence keeps only that something was there.
func presence(s, instead string) string {
	if s == "" {
		return ""
	}
	return instead
}

// texts returns values of a kind as texts.
func texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}
