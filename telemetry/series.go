package telemetry

import (
	"cmp"
	"sync"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// Values of attributes where there is no name, or none that is kept apart.
const (
	unknown = "unknown" // the target does not say
	other   = "other"   // one name too many, or one that is no name
	none    = "none"    // there is no rule, trigger or reason
)

// maxName is the longest provider, model or rule, in bytes, that is shown. Names of
// models are below 100; what is longer is no name.
const maxName = 128

// shown returns what an attribute says for a name, or where there is none. Text that is
// not UTF-8 would make an exporter refuse the whole batch.
func shown(s, absent string) string {
	switch {
	case s == "":
		return absent
	case len(s) > maxName || !utf8.ValidString(s):
		return other
	}
	return s
}

// names are the first few of a kind.
type names[T comparable] struct {
	most int

	mu   sync.Mutex
	have map[T]struct{}
}

// admit reports whether n is one of them, or becomes one.
func (s *names[T]) admit(n T) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.have[n]; ok {
		return true
	}
	if len(s.have) >= s.most {
		return false
	}
	if s.have == nil {
		s.have = map[T]struct{}{}
	}
	s.have[n] = struct{}{}
	return true
}

func (r *Recorder) target(t budget.Target) target {
	n := target{shown(t.Provider, unknown), shown(t.Model, unknown)}
	if !r.targets.admit(n) {
		return target{other, other}
	}
	return n
}

func (r *Recorder) rule(s string) string {
	n := shown(s, none)
	if !r.rules.admit(n) {
		return other
	}
	return n
}

// A series is what tells the measurements of an instrument apart.
type series interface {
	comparable
	attributes() []attribute.KeyValue
}

// options are the attributes of one series in the form that instruments take.
type options struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

// A memo makes the options of each series once, so that a measurement allocates nothing
// for them. It is as small as the names in its series are few.
type memo[S series] struct {
	mu   sync.RWMutex
	have map[S]options
}

func (m *memo[S]) get(s S) options {
	m.mu.RLock()
	o, ok := m.have[s]
	m.mu.RUnlock()
	if ok {
		return o
	}
	set := metric.WithAttributeSet(attribute.NewSet(s.attributes()...))
	o = options{add: []metric.AddOption{set}, record: []metric.RecordOption{set}}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.have == nil {
		m.have = map[S]options{}
	}
	m.have[s] = o
	return o
}

// A target is a provider and a model by their names here.
type target struct{ provider, model string }

// attributes are those that the guard document names.
func (t target) attributes() []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String("provider", t.provider), attribute.String("model", t.model)}
}

// with returns a target as the GenAI conventions name it, and more.
func (t target) with(more ...attribute.KeyValue) []attribute.KeyValue {
	return append(more, semconv.GenAIProviderNameKey.String(string(conventional(t.provider))), semconv.GenAIRequestModel(t.model))
}

// conventional returns the name that the GenAI conventions have for a provider, its own
// where they have none.
func conventional(provider string) genaiconv.ProviderNameAttr {
	switch provider {
	case "openai-chat", "openai-responses":
		return genaiconv.ProviderNameOpenAI
	case "azure-chat", "azure-responses":
		return genaiconv.ProviderNameAzureAIOpenAI
	case "gemini", "google":
		return genaiconv.ProviderNameGCPGemini
	case "vertex":
		return genaiconv.ProviderNameGCPVertexAI
	case "bedrock":
		return genaiconv.ProviderNameAWSBedrock
	case "azure":
		return genaiconv.ProviderNameAzureAIOpenAI
	case "mistral":
		return genaiconv.ProviderNameMistralAI
	case "xai":
		return genaiconv.ProviderNameXAI
	}
	return genaiconv.ProviderNameAttr(provider)
}

type guardSeries struct {
	target
	trigger engine.Trigger // none where the host forced the final Step
	did     engine.GuardDid
}

func (s guardSeries) attributes() []attribute.KeyValue {
	return append(s.target.attributes(),
		attribute.String("trigger", cmp.Or(string(s.trigger), none)), attribute.String("outcome", string(s.did)))
}

type sentSeries struct {
	target
	edited bool
	final  engine.Reason
}

func (s sentSeries) attributes() []attribute.KeyValue {
	return s.with(
		attribute.Bool("plimsoll.request.edited", s.edited),
		attribute.String("plimsoll.request.final", cmp.Or(string(s.final), none)),
	)
}

type refusedSeries struct {
	target
	quantity budget.Quantity
}

func (s refusedSeries) attributes() []attribute.KeyValue {
	return s.with(attribute.Stringer("plimsoll.request.quantity", s.quantity))
}

type sizeSeries struct {
	target
	kind token.Kind // law 9: no figure without it
}

func (s sizeSeries) attributes() []attribute.KeyValue {
	return s.with(attribute.Stringer("plimsoll.count.kind", s.kind))
}

type limitSeries struct{ target }

func (s limitSeries) attributes() []attribute.KeyValue { return s.with() }

type usageSeries struct {
	target
	kind genaiconv.TokenTypeAttr
}

func (s usageSeries) attributes() []attribute.KeyValue {
	return s.with(semconv.GenAIOperationNameChat, semconv.GenAITokenTypeKey.String(string(s.kind)))
}

// A part is one of the disjoint parts of a reported usage.
type part string

const (
	partInput   part = "input" // not from the cache
	partRead    part = "cache_read"
	partWritten part = "cache_write"
	partOutput  part = "output" // reasoning is within it
)

type partSeries struct {
	target
	part part
}

func (s partSeries) attributes() []attribute.KeyValue {
	return s.with(attribute.String("plimsoll.usage.part", string(s.part)))
}

type editSeries struct {
	kind edit.Kind
	rule string
}

func (s editSeries) attributes() []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String("plimsoll.edit.kind", string(s.kind)), attribute.String("plimsoll.edit.rule", s.rule)}
}

// A direction is where an edit moved tokens.
type direction string

const (
	directionOut direction = "out" // of the view
	directionIn  direction = "in"  // a note, or what was put back
)

type movedSeries struct {
	editSeries
	direction direction
}

func (s movedSeries) attributes() []attribute.KeyValue {
	return append(s.editSeries.attributes(), attribute.String("plimsoll.edit.direction", string(s.direction)))
}

type noticeSeries struct{ kind engine.EventKind }

func (s noticeSeries) attributes() []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String("plimsoll.notice.kind", string(s.kind))}
}
