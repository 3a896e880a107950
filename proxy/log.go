package proxy

import (
	"cmp"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// log writes the line of a request: figures and names, nothing that was said, no key and
// nothing of the query.
func (s *Server) log(r *http.Request, x *exchange, w *writer) {
	report := x.reported()
	w.mu.Lock()
	status, size, first, pings := w.status, w.size, w.first, w.pings
	w.mu.Unlock()
	l := line{}
	l.text("method", x.method)
	l.text("path", short(x.path))
	if x.upstream != nil {
		l.text("provider", x.upstream.name)
	}
	l.text("model", short(report.Model))
	l = append(l, slog.Int("status", status))
	if x.owner != nil {
		l.text("key", x.owner.name)
	}
	l.text("session", report.Session)
	l.text("match", string(report.Match))
	l.number("messages", int64(report.Messages))
	l.number("tokens", int64(report.Tokens))
	l.number("estimate", int64(report.Estimate))
	l.number("limit", int64(report.Limit))
	if report.Attempts > 0 {
		l = append(l, slog.Bool("edited", report.Edited), slog.Int("attempts", report.Attempts))
		if report.Rounds > 0 {
			l = append(l, slog.Int("rounds", report.Rounds))
		}
	}
	l.text("final", string(report.Final))
	if x.body != nil {
		l.number("bytes_in", x.body.size.Load())
	}
	l.number("bytes_out", size)
	l.number("pings", int64(pings))
	if first > 0 {
		l = append(l, slog.Float64("first_byte_ms", ms(first)))
	}
	l = append(l, slog.Float64("ms", ms(time.Since(x.start))))
	u := report.Usage
	l.number("usage_input", int64(u.Input))
	l.number("usage_cache_read", int64(u.CacheRead))
	l.number("usage_cache_write", int64(u.CacheWrite5m+u.CacheWrite1h))
	l.number("usage_output", int64(u.Output))
	l.text("passed", short(report.Passed))
	l.text("unread", report.Unread)
	if report.Class != wire.Unclassified {
		l.text("class", report.Class.String())
	}
	level, trouble := slog.LevelInfo, cmp.Or(x.trouble, report.Refused)
	if trouble != "" {
		level = slog.LevelWarn
		l.text("error", trouble)
	}
	l.text("hint", hintOf(x, report, status))
	s.o.Log.LogAttrs(r.Context(), level, "request", l...)
}

// hintOf says what can be done about a request that got no answer from an upstream; empty:
// nothing that is known here.
func hintOf(x *exchange, report gateway.Report, status int) string {
	switch {
	case x.trouble != "" && status == http.StatusBadGateway:
		return "is it running? --upstream " + x.upstream.name + "=URL names another address"
	case x.trouble != "" || report.Refused == "":
		return ""
	case report.Class == wire.TooLong:
		return "nothing is left to take out; --window MODEL=TOKENS states another window"
	case report.Class == wire.BadRequest && strings.Contains(report.Refused, "previous_response_id"):
		return "the client has to send its whole history"
	}
	return ""
}

// A line is the figures of one request. What is not known is left out.
type line []slog.Attr

func (l *line) text(name, value string) {
	if value != "" {
		*l = append(*l, slog.String(name, value))
	}
}

func (l *line) number(name string, n int64) {
	if n != 0 {
		*l = append(*l, slog.Int64(name, n))
	}
}

// ms is a duration in milliseconds, to the microsecond.
func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// short bounds a text that somebody else wrote.
func short(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
