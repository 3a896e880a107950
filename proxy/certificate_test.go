package proxy_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/proxy"
)

// certify writes a new certificate for this machine into cert.pem and key.pem of a folder,
// and returns it.
func certify(t *testing.T, dir string, serial int64) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// secure starts a proxy behind TLS and returns its URL.
func secure(t *testing.T, s *proxy.Server, c *proxy.Certificate) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, c.Listener(l)) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "https://" + l.Addr().String()
}

// A secured client trusts one certificate, and keeps no connection.
func secured(trusted *x509.Certificate) *http.Client {
	roots := x509.NewCertPool()
	roots.AddCert(trusted)
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableCompression: true, DisableKeepAlives: true, ForceAttemptHTTP2: true}}
}

// Behind TLS a client gets what it gets without, as soon as it comes, and a certificate that
// was read again is what new connections get; one that is broken changes nothing.
func TestTLS(t *testing.T) {
	more := make(chan struct{})
	p := start(t, behind(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: ping\ndata: {\"type\":\"ping\"}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-more
		_, _ = io.WriteString(w, "event: ping\ndata: {\"type\":\"pong\"}\n\n")
	}), nil)
	dir := t.TempDir()
	first := certify(t, dir, 1)
	c, err := proxy.OpenCertificate(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	url := secure(t, p.Server, c)
	resp, err := secured(first).Post(url+"/v1/messages", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	begin := make([]byte, 12)
	if _, err := io.ReadFull(resp.Body, begin); err != nil || string(begin) != "event: ping\n" || resp.ProtoMajor != 1 {
		t.Errorf("%q, HTTP/%d, %v", begin, resp.ProtoMajor, err)
	}

	second := certify(t, dir, 2)
	if err := c.Reload(); err != nil {
		t.Fatal(err)
	}
	close(more)
	if rest, err := io.ReadAll(resp.Body); err != nil || !strings.HasSuffix(string(rest), "pong\"}\n\n") {
		t.Errorf("what was in flight: %q, %v", rest, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cert.pem"), []byte("half of one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Reload(); err == nil || !strings.Contains(err.Error(), "cert.pem") {
		t.Errorf("a broken file: %v", err)
	}
	for trusted, ok := range map[*x509.Certificate]bool{first: false, second: true} {
		resp, err := secured(trusted).Get(url + "/healthz")
		if (err == nil) != ok {
			t.Errorf("certificate %v: %v", trusted.SerialNumber, err)
		}
		if err == nil {
			_ = resp.Body.Close()
		}
	}
}

// Two files that do not belong together are no certificate.
func TestCertificateFiles(t *testing.T) {
	one, other := t.TempDir(), t.TempDir()
	certify(t, one, 1)
	certify(t, other, 2)
	for _, key := range []string{filepath.Join(other, "key.pem"), filepath.Join(one, "cert.pem"), filepath.Join(one, "nothing.pem")} {
		if c, err := proxy.OpenCertificate(filepath.Join(one, "cert.pem"), key); err == nil || c != nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", key, err)
		}
	}
}
