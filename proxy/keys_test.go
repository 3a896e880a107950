package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/proxy"
)

// newKeys returns keys for names, with their limits, and the secrets.
func newKeys(t *testing.T, names ...string) (*proxy.Keys, []string) {
	t.Helper()
	var secrets []string
	var file strings.Builder
	for _, name := range names {
		name, limits, _ := strings.Cut(name, " ")
		secret, line, err := proxy.NewKey(name)
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, secret)
		fmt.Fprintln(&file, line, limits)
	}
	keys, err := proxy.ReadKeys(strings.NewReader("# who may\n\n" + file.String()))
	if err != nil {
		t.Fatal(err)
	}
	return keys, secrets
}

// holds reports whether a request has a text anywhere.
func (s seen) holds(text string) bool {
	return strings.Contains(fmt.Sprintf("%s %v %s", s.uri, s.header, s.body), text)
}

// A key of the proxy never leaves it, in whichever slot it came; what the upstream gets is
// the client's own key or that of the proxy's environment.
func TestKeyStays(t *testing.T) {
	m := &mirror{}
	keys, secrets := newKeys(t, "ann")
	ann := secrets[0]
	_, old := newKeys(t, "gone")
	p := start(t, behind(t, m.ServeHTTP), func(o *proxy.Options) {
		o.Keys = keys
		o.Env = func(name string) string {
			return map[string]string{"ANTHROPIC_API_KEY": "a-of-the-proxy", "OPENAI_API_KEY": "o-of-the-proxy", "GEMINI_API_KEY": "g-of-the-proxy"}[name]
		}
	})
	for _, c := range []struct {
		uri    string
		header http.Header
		name   string // of the header with the upstream's key
		want   string
	}{
		{"/v1/messages", http.Header{"X-Api-Key": {ann}}, "X-Api-Key", "a-of-the-proxy"},
		{"/v1/messages", http.Header{"Authorization": {"Bearer " + ann}}, "X-Api-Key", "a-of-the-proxy"},
		{"/v1/messages", http.Header{"Authorization": {"bearer " + ann}, "X-Api-Key": {ann}}, "X-Api-Key", "a-of-the-proxy"},
		{"/v1/messages", http.Header{"X-Plimsoll-Key": {ann}, "X-Api-Key": {"own"}}, "X-Api-Key", "own"},
		{"/v1/messages", http.Header{"X-Plimsoll-Key": {ann}, "X-Api-Key": {"own"}, "Authorization": {"Bearer " + old[0]}}, "X-Api-Key", "own"},
		{"/v1/messages/count_tokens", http.Header{"X-Plimsoll-Key": {ann}, "Authorization": {"Bearer own"}}, "Authorization", "Bearer own"},
		{"/v1/files?x=1&mine=" + ann, http.Header{"X-Plimsoll-Key": {ann}, "Authorization": {"Bearer own"}, "X-Odd": {"it is " + ann}}, "Authorization", "Bearer own"},
		{"/v1/files?mine=" + strings.ReplaceAll(ann, "-", "%2D"), http.Header{"X-Plimsoll-Key": {ann}, "Authorization": {"Bearer own"}}, "Authorization", "Bearer own"},
		{"/v1beta/models?%6Bey=" + strings.ReplaceAll(ann, "-", "%2D"), nil, "X-Goog-Api-Key", "g-of-the-proxy"},
		{"/v1/chat/completions", http.Header{"Authorization": {"Bearer " + ann}}, "Authorization", "Bearer o-of-the-proxy"},
		{"/v1/models", http.Header{"Authorization": {"Bearer " + ann}}, "Authorization", "Bearer o-of-the-proxy"},
		{"/v1beta/models/m:generateContent", http.Header{"X-Goog-Api-Key": {ann}}, "X-Goog-Api-Key", "g-of-the-proxy"},
		{"/v1beta/models/m:generateContent?key=" + ann + "&alt=sse", nil, "X-Goog-Api-Key", "g-of-the-proxy"},
		{"/api/chat", http.Header{"Authorization": {"Bearer " + ann}}, "Authorization", ""},
	} {
		resp, body := ask(t, "POST", p.url+c.uri, c.header, []byte(`{"model":"m","messages":[{"role":"user","content":"x"}]}`))
		if resp.StatusCode != 200 {
			t.Errorf("%s %v: got %d %s", c.uri, c.header, resp.StatusCode, body)
			continue
		}
		got := m.last(t)
		if got.holds("plimsoll") || got.header.Get(c.name) != c.want {
			t.Errorf("%s %v: the upstream got %s %v", c.uri, c.header, got.uri, got.header)
		}
	}
	before := m.count()
	for _, h := range []http.Header{
		nil, {"X-Api-Key": {"own"}}, {"X-Plimsoll-Key": {"wrong"}, "X-Api-Key": {ann}}, {"X-Plimsoll-Key": {ann, ann}}, {"Authorization": {"Bearer " + old[0]}},
	} {
		if resp, _ := ask(t, "POST", p.url+"/v1/messages", h, []byte("{}")); resp.StatusCode != 401 {
			t.Errorf("%v: got %d, want 401", h, resp.StatusCode)
		}
	}
	for _, path := range []string{"/v1/" + ann + "/models", "/v1/" + strings.ReplaceAll(ann, "-", "%2D") + "/models"} {
		if resp, body := ask(t, "POST", p.url+path, http.Header{"X-Plimsoll-Key": {ann}}, nil); resp.StatusCode != 400 {
			t.Errorf("a key in a path: got %d %s, want 400", resp.StatusCode, body)
		}
	}
	if m.count() != before {
		t.Error("a request without a key came through")
	}
	p.log.Requests(t, m.count()+7)
	if text := p.log.String(); strings.Contains(text, "sk-plimsoll-") || strings.Contains(text, "of-the-proxy") || !strings.Contains(text, `"key":"ann"`) {
		t.Error("the log: want names and no key, got", text)
	}
}

// Where the proxy itself lacks a key of the provider, the client learns that and no more.
func TestKeyMissing(t *testing.T) {
	m := &mirror{}
	keys, secrets := newKeys(t, "ann")
	p := start(t, behind(t, m.ServeHTTP), func(o *proxy.Options) { o.Keys = keys })
	resp, body := ask(t, "POST", p.url+"/v1/messages", http.Header{"X-Api-Key": {secrets[0]}}, []byte("{}"))
	p.log.Requests(t, 1)
	if resp.StatusCode != 500 || strings.Contains(string(body), "ANTHROPIC_API_KEY") || !strings.Contains(p.log.String(), "ANTHROPIC_API_KEY") || m.count() > 0 {
		t.Errorf("got %d %s, log %s", resp.StatusCode, body, p.log)
	}
}

// What one owner has said does not exist for another, though every byte is the same.
func TestOwnersApart(t *testing.T) {
	model, url := scripted(t, script)
	keys, secrets := newKeys(t, "ann", "bob")
	p := start(t, url, func(o *proxy.Options) { o.Keys = keys })
	sessions := map[any]string{}
	for i, name := range []string{"ann", "bob"} {
		model.Reset()
		a := testagent.New(p.url, "anthropic", false)
		a.Header.Set("X-Plimsoll-Key", secrets[i])
		a.Header.Set("X-Claude-Code-Session-Id", "the-same")
		a.Header.Set("X-Api-Key", "the-same")
		if err := a.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, line := range p.log.Requests(t, (i+1)*21)[i*21:] {
			if owner, ok := sessions[line["session"]]; ok && owner != name || line["key"] != name {
				t.Fatalf("a session of %s for %s: %v", owner, name, line)
			}
			sessions[line["session"]] = name
		}
	}
	if len(sessions) != 2 {
		t.Errorf("sessions %v, want one each", sessions)
	}
}

// Without keys only programs of this machine are let in: no page in a browser, under
// whatever name it found the way.
func TestHost(t *testing.T) {
	m := &mirror{}
	p := start(t, behind(t, m.ServeHTTP), nil)
	for host, ok := range map[string]bool{
		"localhost": true, "LOCALHOST:8790": true, "127.0.0.1:8790": true, "127.9.9.9": true, "[::1]:8790": true, "[::1]": true,
		"evil.example": false, "evil.example:8790": false, "localhost.evil.example": false, "10.0.0.1": false, "127.0.0.1.evil.example": false, "0.0.0.0": false,
	} {
		resp, _ := ask(t, "POST", p.url+"/v1/messages", http.Header{"Host": {host}}, []byte("{}"))
		if (resp.StatusCode == 200) != ok || !ok && resp.StatusCode != 403 {
			t.Errorf("%s: got %d", host, resp.StatusCode)
		}
		if resp, _ := ask(t, "GET", p.url+"/", http.Header{"Host": {host}}, nil); (resp.StatusCode == 200) != ok {
			t.Errorf("/ at %s: got %d", host, resp.StatusCode)
		}
	}
	for origin, ok := range map[string]bool{
		"http://localhost:3000": true, "http://127.0.0.1": true, "vscode-file://vscode-app": true, "app://obsidian.md": true,
		"https://evil.example": false, "http://localhost.evil.example": false, "null": false,
	} {
		if resp, _ := ask(t, "POST", p.url+"/api/chat", http.Header{"Origin": {origin}}, []byte("{}")); (resp.StatusCode == 200) != ok {
			t.Errorf("origin %s: got %d", origin, resp.StatusCode)
		}
	}
	keys, secrets := newKeys(t, "ann")
	p = start(t, behind(t, m.ServeHTTP), func(o *proxy.Options) { o.Keys = keys })
	if resp, _ := ask(t, "POST", p.url+"/v1/messages", http.Header{"Host": {"gateway.example"}, "X-Plimsoll-Key": secrets, "X-Api-Key": {"own"}}, []byte("{}")); resp.StatusCode != 200 {
		t.Errorf("with a key: got %d", resp.StatusCode)
	}
	for uri, want := range map[string]int{"/healthz": 200, "/readyz": 401, "/metrics": 401} {
		if resp, _ := ask(t, "GET", p.url+uri, nil, nil); resp.StatusCode != want {
			t.Errorf("%s without a key: got %d, want %d", uri, resp.StatusCode, want)
		}
	}
	if resp, _ := ask(t, "GET", p.url+"/readyz", http.Header{"Authorization": {"Bearer " + secrets[0]}}, nil); resp.StatusCode != 200 {
		t.Errorf("/readyz with a key: got %d", resp.StatusCode)
	}
}

// A file of keys with a fault is refused with its line, and never with what could be a key.
func TestKeyFile(t *testing.T) {
	hash := strings.Repeat("0f", 32)
	for text, want := range map[string]string{
		"":                          "want at least one line",
		"ann":                       "line 1: want a name and the SHA-256",
		"\nann sk-plimsoll-secret":  "line 2: of ann, want the SHA-256",
		"a/b " + hash:               "line 1: name",
		"ann " + hash + " rpm=0":    "rpm=N",
		"ann " + hash + " speed=10": "rpm=N",
		"ann e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855": "line 1: of ann, want the SHA-256 of a key, got that of nothing",
	} {
		_, err := proxy.ReadKeys(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	if _, _, err := proxy.NewKey("two words"); err == nil {
		t.Error("a name of two words: want an error")
	}
}

// Keys that are read again hold from the next request on, also on a connection that is
// open; a file with a fault changes nothing, and nobody gets used-up requests back.
func TestKeysAgain(t *testing.T) {
	var secrets, lines []string
	for _, name := range []string{"ann", "bob"} {
		secret, line, err := proxy.NewKey(name)
		if err != nil {
			t.Fatal(err)
		}
		secrets, lines = append(secrets, secret), append(lines, line)
	}
	ann, bob := lines[0]+" rpm=2\n", lines[1]+"\n"
	keys, err := proxy.ReadKeys(strings.NewReader(ann))
	if err != nil {
		t.Fatal(err)
	}
	m := &mirror{}
	p := start(t, behind(t, m.ServeHTTP), func(o *proxy.Options) { o.Keys = keys })
	for i, step := range []struct {
		file     string // empty: it is not read again
		ok       bool   // it can be read
		ann, bob int
	}{
		{"", true, 200, 401},
		{ann + bob, true, 200, 200},
		{ann + bob, true, 429, 200},
		{bob + "carl\n", false, 429, 200},
		{bob, true, 401, 200},
		{"# nobody", false, 401, 200},
	} {
		if step.file != "" {
			if err := keys.Reload(strings.NewReader(step.file)); (err == nil) != step.ok {
				t.Errorf("step %d: %v", i, err)
			}
		}
		for n, want := range []int{step.ann, step.bob} {
			resp, _ := ask(t, "POST", p.url+"/v1/messages", http.Header{"X-Plimsoll-Key": secrets[n : n+1], "X-Api-Key": {"own"}}, []byte("{}"))
			if resp.StatusCode != want {
				t.Errorf("step %d, key %d: got %d, want %d", i, n, resp.StatusCode, want)
			}
		}
	}
	p = start(t, behind(t, m.ServeHTTP), func(o *proxy.Options) { o.Keys = &proxy.Keys{} })
	if resp, _ := ask(t, "POST", p.url+"/v1/messages", http.Header{"X-Plimsoll-Key": secrets[:1]}, nil); resp.StatusCode != 401 {
		t.Errorf("keys that were never read: got %d, want 401", resp.StatusCode)
	}
}

// Only keys open a server to other machines.
func TestListenOpen(t *testing.T) {
	keys, _ := newKeys(t, "ann")
	for address, local := range map[string]bool{
		"127.0.0.1:1": true, "localhost:1": true, "[::1]:1": true, ":1": false, "0.0.0.0:1": false, "[::]:1": false, "192.168.0.2:1": false, "box.example:1": false,
	} {
		if err := proxy.CheckListen(address, nil); (err == nil) != local {
			t.Errorf("%s: %v", address, err)
		}
		if err := proxy.CheckListen(address, keys); err != nil {
			t.Errorf("%s with keys: %v", address, err)
		}
	}
}
