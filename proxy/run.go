package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// ErrOpen says that a server without keys was to be reached from other machines.
var ErrOpen = errors.New("proxy: listen: want keys where other machines can connect, got none")

// CheckListen refuses an address (a host and a port) that other machines can reach where
// there are no keys.
func CheckListen(address string, keys *Keys) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("proxy: listen: %w", err)
	}
	if keys == nil && !isHere(net.JoinHostPort(host, "0")) {
		return ErrOpen
	}
	return nil
}

// Serve answers the requests of a listener until ctx ends. Then it takes in nothing new,
// finishes what is in flight for as long as Options.Grace says, and returns nil; an error
// says that requests had to be cut off, or that the listener failed.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if a, ok := l.Addr().(*net.TCPAddr); ok && s.o.Keys == nil && !a.IP.IsLoopback() {
		return errors.Join(ErrOpen, l.Close())
	}
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 256 << 10,
		ErrorLog: slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("proxy: serve: %w", err)
	case <-ctx.Done():
	}
	s.ready.Store(false)
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.Grace)
	defer cancel()
	err := server.Shutdown(grace)
	if err != nil {
		err = fmt.Errorf("proxy: shutdown: %d requests were cut off after %v", s.inFlight.Load(), s.o.Grace)
		_ = server.Close() // they are cut off; there is nothing else to say
	}
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
