package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/plimsoll-dev/plimsoll/proxy"
)

// proxyFiles are the files of a proxy that it reads again when it is told to.
type proxyFiles struct {
	keysFile string
	keys     *proxy.Keys        // nil: there are none
	cert     *proxy.Certificate // nil: it speaks plain HTTP
}

func (f proxyFlags) openFiles() (*proxyFiles, error) {
	p := &proxyFiles{keysFile: f.keys}
	if f.keys != "" {
		p.keys = &proxy.Keys{}
		if err := p.readKeys(); err != nil {
			return nil, fail(err, "a line is a name and the SHA-256 of a key; plimsoll proxy key NAME makes both")
		}
	}
	if (f.tlsCert == "") != (f.tlsKey == "") {
		return nil, usage(errors.New("proxy: --tls-cert and --tls-key, want both or neither, got one"), "")
	}
	if f.tlsCert == "" {
		return p, nil
	}
	var err error
	p.cert, err = proxy.OpenCertificate(f.tlsCert, f.tlsKey)
	return p, fail(err, "both are PEM files: --tls-cert has the certificate and its chain, --tls-key the key that it was made for")
}

func (p *proxyFiles) readKeys() error {
	file, err := os.Open(p.keysFile)
	if err != nil {
		return fmt.Errorf("proxy: keys: %w", err)
	}
	defer file.Close() //nolint:errcheck // it is only read
	if err := p.keys.Reload(file); err != nil {
		return fmt.Errorf("%w in %s", err, p.keysFile)
	}
	return nil
}

// listener returns l as clients are to speak to it, and the scheme of its URL.
func (p *proxyFiles) listener(l net.Listener) (listener net.Listener, scheme string) {
	if p.cert == nil {
		return l, "http"
	}
	return p.cert.Listener(l), "https"
}

// follow reads the files again at each SIGHUP until ctx ends. Where there are none the
// signal ends the program, as it does others.
func (p *proxyFiles) follow(ctx context.Context, log *slog.Logger) {
	if p.keys == nil && p.cert == nil {
		return
	}
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGHUP)
	go func() {
		defer signal.Stop(again)
		for {
			select {
			case <-ctx.Done():
				return
			case <-again:
				p.readAgain(log)
			}
		}
	}()
}

// readAgain reads each file again. One that cannot be read keeps no other from it.
func (p *proxyFiles) readAgain(log *slog.Logger) {
	tell := func(what string, err error) {
		if err != nil {
			log.Error(what+" could not be read again: what it was before holds", "error", err.Error())
			return
		}
		log.Info(what + " was read again")
	}
	if p.keys != nil {
		tell("the file of the keys", p.readKeys())
	}
	if p.cert != nil {
		tell("the certificate", p.cert.Reload())
	}
}
