package proxy

import (
	"crypto/tls"
	"fmt"
	"net"
	"sync/atomic"
)

// A Certificate is what a server shows its clients over TLS. It is kept in two files, which
// can be read again while the server runs. It is safe for concurrent use.
type Certificate struct {
	certFile, keyFile string
	now               atomic.Pointer[tls.Certificate]
}

// OpenCertificate reads a certificate, with what stands between it and an authority behind
// it, and its key. Both files are PEM.
func OpenCertificate(certFile, keyFile string) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile}
	if err := c.Reload(); err != nil {
		return nil, err
	}
	return c, nil
}

// Reload reads the files again. New connections get what they say now; with an error they
// get what they got before.
func (c *Certificate) Reload() error {
	read, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("proxy: certificate of %s and %s: %w", c.certFile, c.keyFile, err)
	}
	c.now.Store(&read)
	return nil
}

// Listener returns l with TLS around each connection, for [Server.Serve]. What is spoken in
// it is HTTP/1.1, as without.
func (c *Certificate) Listener(l net.Listener) net.Listener {
	return tls.NewListener(l, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.now.Load(), nil },
	})
}
