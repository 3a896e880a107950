//go:build unix

package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestContainer: what the container file starts is the proxy, which answers where the check of
// its health asks, without a key; and it is built with the module's own version of Go or a newer one.
func TestContainer(t *testing.T) {
	file, err := os.ReadFile(filepath.Join(repo, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	one := func(pattern string) string {
		t.Helper()
		found := regexp.MustCompile(`(?m)` + pattern).FindStringSubmatch(string(file))
		if found == nil {
			t.Fatalf("Dockerfile, want a line %s, got none", pattern)
		}
		return found[1]
	}
	var args, check []string
	for text, list := range map[string]*[]string{one(`^CMD (\[.*\])$`): &args, one(`^HEALTHCHECK .* CMD (\[.*\])$`): &check} {
		if err := json.Unmarshal([]byte(text), list); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "keys.txt"), []byte("ann "+strings.Repeat("0", 64)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	port := ""
	for i, a := range args {
		if rest, ok := strings.CutPrefix(a, "0.0.0.0:"); ok {
			args[i], port = "127.0.0.1:0", rest
		}
		args[i] = strings.Replace(args[i], "/data/", dir+"/", 1)
	}
	if exposed := one(`^EXPOSE (\d+)$`); port == "" || exposed != port {
		t.Errorf("the proxy listens at port %q, and %q is exposed", port, exposed)
	}
	t.Setenv("XDG_DATA_HOME", dir)
	url, _ := startProxy(t, dir, args) // the end of the test ends it
	path, ok := strings.CutPrefix(check[len(check)-1], "http://127.0.0.1:"+port)
	if !ok {
		t.Fatalf("the check of its health asks %q, want port %s", check, port)
	}
	resp, err := http.Get(url + path)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("%s: want 200, got %d", path, resp.StatusCode)
	}
	module, err := os.ReadFile(filepath.Join(repo, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`(?m)^go (\d+\.\d+)\.(\d+)$`).FindStringSubmatch(string(module))
	if got := one(`^FROM golang:(\S+)-alpine AS`); want == nil || !strings.HasPrefix(got, want[1]+".") || len(got) < len(want[0])-len("go ") {
		t.Errorf("Dockerfile builds with Go %s, the module wants %v", got, want)
	}
}
