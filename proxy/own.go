package proxy

import (
	"io"
	"net/http"
)

// own answers what the server itself is asked. It reports whether it was.
func (s *Server) own(w *writer, r *http.Request, x *exchange) bool {
	switch r.URL.Path {
	case "/healthz":
		answer(w, http.StatusOK, "ok\n") // a probe has no key
		return true
	case "/", "/readyz", "/metrics":
	default:
		return false
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if upgrades(r.Header) {
		return false
	}
	if r.URL.Path == "/" { // clients look whether somebody is there
		if s.o.Keys == nil && notHere(r) != "" {
			return false
		}
		answer(w, http.StatusOK, "Plimsoll proxy\n")
		return true
	}
	if !s.asked(w, r, x) {
		return true
	}
	switch {
	case r.URL.Path == "/metrics" && s.o.Metrics != nil:
		s.o.Metrics.ServeHTTP(w, r)
	case r.URL.Path == "/metrics":
		http.NotFound(w, r)
	case s.ready.Load():
		answer(w, http.StatusOK, "ready\n")
	default:
		answer(w, http.StatusServiceUnavailable, "ending\n")
	}
	return true
}

// asked is known for what needs no upstream.
func (s *Server) asked(w *writer, r *http.Request, x *exchange) bool {
	x.upstream = nil
	return s.known(w, r, x)
}

func answer(w *writer, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // net/http drops it for HEAD
}
