package mcp

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is where a server is found over HTTP.
const Path = "/mcp"

// ErrOpen says that other machines could ask a server that has no token.
var ErrOpen = errors.New("without a token only this machine may ask")

// maxBody is the bytes of a request at most. A call is a name and a few short arguments.
const maxBody = 1 << 20

// grace is the time that requests in flight have to finish at the end.
const grace = 5 * time.Second

// Serve answers the clients of a listener until ctx ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if a, ok := l.Addr().(*net.TCPAddr); ok && s.o.Token == "" && !a.IP.IsLoopback() {
		return errors.Join(ErrOpen, l.Close())
	}
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("mcp: serve: %w", err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		return errors.Join(fmt.Errorf("mcp: shutdown: requests were cut off after %v", grace), server.Close())
	}
	return nil
}

// Handler answers clients over HTTP, at [Path].
func (s *Server) Handler() http.Handler {
	streamable := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: maxBody,
	})
	mux := http.NewServeMux()
	mux.Handle(Path, http.NewCrossOriginProtection().Handler(s.admitted(streamable)))
	return mux
}

// admitted lets in who states the token.
func (s *Server) admitted(next http.Handler) http.Handler {
	if s.o.Token == "" {
		return next
	}
	want := sha256.Sum256([]byte(s.o.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(token)))
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(want[:], got[:]) == 0 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "plimsoll: want Authorization: Bearer with the token of this server", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
