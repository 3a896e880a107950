//go:build unix

package main

import (
	"bufio"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/plimsoll-dev/plimsoll/proxy"
)

// TestProxyReadsAgain: at SIGHUP the program reads its files again. Keys that were added are
// let in and those that were taken out are not; a certificate that is broken by then stays
// what it was, and the log says so.
func TestProxyReadsAgain(t *testing.T) {
	upstream := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer upstream.Close()
	secret, err := x509.MarshalPKCS8PrivateKey(upstream.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put := func(name string, text []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key := func(name string) (secret string) {
		t.Helper()
		secret, line, err := proxy.NewKey(name)
		if err != nil {
			t.Fatal(err)
		}
		put("keys.txt", []byte(line))
		return secret
	}
	first := key("ann")
	cmd := exec.CommandContext(t.Context(), "plimsoll", "proxy", "--listen", "127.0.0.1:0", "--db", filepath.Join(dir, "kept.db"), "--keys", filepath.Join(dir, "keys.txt"),
		"--tls-cert", put("cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: upstream.Certificate().Raw})),
		"--tls-key", put("key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	cmd.Dir = dir
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	log := bufio.NewReader(stderr)
	says := func(pattern string) string {
		t.Helper()
		line, err := log.ReadString('\n')
		m := regexp.MustCompile(pattern).FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("the log: got %q, %v, want %s", line, err, pattern)
		}
		return m[len(m)-1]
	}
	url := says(`msg=listening url=(https://\S+)`)
	client := upstream.Client() // trusts that certificate
	letIn := func(secret string) bool {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/readyz", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Plimsoll-Key", secret)
		client.CloseIdleConnections()
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	}
	if !letIn(first) {
		t.Error("the first key: want it let in")
	}
	second := key("bob")
	put("cert.pem", []byte("half of one"))
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	says(`level=INFO msg="the file of the keys was read again"`)
	says(`level=ERROR msg="the certificate could not be read again: what it was before holds" error=.*cert.pem`)
	if letIn(first) || !letIn(second) {
		t.Errorf("let in: the first key %t, the second %t, want the second alone", letIn(first), letIn(second))
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(log)
	if err := cmd.Wait(); err != nil || !strings.Contains(string(rest), "msg=ended") {
		t.Errorf("%v\n%s", err, rest)
	}
}
