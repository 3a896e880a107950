package drive

import (
	"context"
	"log/slog"
	"os"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
)

// debugVariable turns on the guard's traces (R000-25).
const debugVariable = "CONTEXT_DEBUG"

// Debug returns the logger of the guard's traces: the one that is given, else standard
// error, in lines of JSON, where the environment says CONTEXT_DEBUG=true, else nil.
func Debug(given *slog.Logger) *slog.Logger {
	if given != nil || os.Getenv(debugVariable) != "true" {
		return given
	}
	return slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// logTraces writes the guard's traces as records with the field names of the guard
// document (R000-25).
func logTraces(to *slog.Logger, session string, traces []engine.Trace) {
	if to == nil {
		return
	}
	for _, t := range traces {
		attrs := append([]slog.Attr{slog.String("session", session)}, fieldsOf(t)...)
		to.LogAttrs(context.Background(), slog.LevelDebug, string(t.Topic), attrs...)
	}
}

// fieldsOf returns what a topic says.
func fieldsOf(t engine.Trace) []slog.Attr {
	switch t.Topic {
	case engine.TopicEvaluate:
		return append([]slog.Attr{
			slog.String("trigger", string(t.Trigger)),
			slog.Int("projectedTokens", t.Projected),
		}, append(counters(t.Counters),
			slog.Int("extraTokens", t.Extra),
			slog.Int("currentReasoningTokens", t.Counters.Reasoning))...)
	case engine.TopicEvaluateTarget:
		w := t.Target.Window
		return append(targetOf(t.Target),
			slog.Int("contextWindow", w.Capacity), slog.Int("bufferTokens", w.Buffer),
			slog.Int("maxOutputTokens", w.OutputReserve), slog.Int("limit", w.Limit()))
	case engine.TopicProviderEval:
		return append(targetOf(t.Target), slog.String("status", t.Decision.String()), blockedOf(t.Blocked))
	case engine.TopicBuildMetrics:
		return append(targetOf(t.Target), metricsOf(t)...)
	case engine.TopicEnforce:
		return []slog.Attr{slog.String("reason", string(t.Reason)), slog.String("trigger", string(t.Trigger)), blockedOf(t.Blocked)}
	}
	return counters(t.Counters)
}

func counters(c budget.Counters) []slog.Attr {
	return []slog.Attr{
		slog.Int("currentCtxTokens", c.Current), slog.Int("pendingCtxTokens", c.Pending),
		slog.Int("newCtxTokens", c.Fresh), slog.Int("schemaCtxTokens", c.Schema),
	}
}

func targetOf(t budget.Target) []slog.Attr {
	return []slog.Attr{slog.String("provider", t.Provider), slog.String("model", t.Model)}
}

// metricsOf returns the call in figures. The share is of the window, with buffer and
// output reserve taken as used.
func metricsOf(t engine.Trace) []slog.Attr {
	w, percent := t.Target.Window, 100
	if w.Capacity > 0 {
		percent = int((int64(t.Projected+w.Buffer+w.OutputReserve)*100 + int64(w.Capacity)/2) / int64(w.Capacity))
	}
	return []slog.Attr{
		slog.Int("ctxTokens", t.Counters.Current), slog.Int("newTokens", t.Counters.Fresh), slog.Int("schemaTokens", t.Counters.Schema),
		slog.Int("expectedTokens", t.Projected), slog.Int("contextPct", percent), slog.Int("countedTokens", t.Count),
	}
}

// A blockedTarget is how a target without room is written.
type blockedTarget struct {
	Provider  string `json:"provider"`
	Model     string `json:"model"`
	Limit     int    `json:"limit"`
	Projected int    `json:"projected"`
}

func blockedOf(all []engine.Blocked) slog.Attr {
	out := make([]blockedTarget, len(all))
	for i, b := range all {
		out[i] = blockedTarget{b.Target.Provider, b.Target.Model, b.Limit, b.Projected}
	}
	return slog.Any("blocked", out)
}
