//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
)

// TestProxyRuns: the program keeps a conversation within a window that a flag states, ends
// with what is in flight finished, and goes on after a restart with the same bytes.
func TestProxyRuns(t *testing.T) {
	script, err := scriptmodel.Parse("window 8000\noutput 100\nreply always\n  text \"Read on.\"\n")
	if err != nil {
		t.Fatal(err)
	}
	model := scriptmodel.New(script, scriptmodel.Options{})
	upstream := httptest.NewServer(model)
	defer upstream.Close()
	dir := t.TempDir()
	args := []string{"proxy", "--listen", "127.0.0.1:0", "--db", filepath.Join(dir, "kept.db"), "--upstream", "openai=" + upstream.URL, "--window", "scripted-model=8000"}

	url, end := startProxy(t, dir, args)
	var history []string
	say := func() (status int) {
		t.Helper()
		history = append(history, fmt.Sprintf(`{"role":"user","content":%q}`, strings.Repeat(fmt.Sprintf("page %d of the book. ", len(history)), 150)))
		resp, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"scripted-model","max_tokens":100,"messages":[`+strings.Join(history, ",")+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		history = append(history, `{"role":"assistant","content":"Read on."}`)
		return resp.StatusCode
	}
	for range 12 {
		if status := say(); status != 200 {
			t.Fatalf("message %d: got %d", len(history), status)
		}
	}
	resp, err := http.Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	for _, want := range []string{
		`plimsoll_proxy_requests_total{plimsoll_proxy_status="2xx",plimsoll_proxy_upstream="openai"} 12`, `plimsoll_request_sent_total{`, `gen_ai_client_token_usage`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("/metrics has no %s:\n%s", want, text)
		}
	}
	end()
	before := model.Log()[len(model.Log())-1]
	history = history[:len(history)-2]
	url, end = startProxy(t, dir, args)
	if status := say(); status != 200 {
		t.Fatalf("after the restart: got %d", status)
	}
	end()
	calls := model.Log()
	after := calls[len(calls)-1]
	if len(calls) != 13 || after.Error != nil || !bytes.Equal(before.Body, after.Body) {
		t.Errorf("%d calls; the last request of before was sent again as another one", len(calls))
	}
	for i, c := range calls {
		if c.Error != nil {
			t.Errorf("call %d: %v", i+1, c.Error)
		}
	}
}

// TestProxyRecordReplays: inspect and replay read the folder that the proxy recorded into.
func TestProxyRecordReplays(t *testing.T) {
	script, err := scriptmodel.Parse("reply always\n  text \"Read on.\"\n")
	if err != nil {
		t.Fatal(err)
	}
	upstream := httptest.NewServer(scriptmodel.New(script, scriptmodel.Options{}))
	defer upstream.Close()
	dir := t.TempDir()
	records := filepath.Join(dir, "records")
	url, end := startProxy(t, dir, []string{"proxy", "--listen", "127.0.0.1:0", "--db", filepath.Join(dir, "kept.db"), "--upstream", "openai=" + upstream.URL, "--record", records})
	history := ""
	for n := range 8 {
		history += fmt.Sprintf(`{"role":"user","content":%q}`, strings.Repeat(fmt.Sprintf("page %d of the book. ", n), 150))
		resp, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"scripted-model","messages":[`+history+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		history += `,{"role":"assistant","content":"Read on."},`
	}
	end()
	var out, errs bytes.Buffer
	s := streams{strings.NewReader(""), &out, &errs}
	if err := runInspect(t.Context(), s, inspectFlags{}, []string{records}); err != nil || !strings.Contains(out.String(), "8 steps") {
		t.Errorf("inspect: %v\n%s%s", err, out.String(), errs.String())
	}
	out.Reset()
	err = runReplay(t.Context(), s, replayFlags{policies: []string{"off", "balanced"}, windows: []string{"50%"}, judge: true}, []string{records})
	if err != nil || !strings.Contains(out.String(), "from its beginning; scripted-model, 8 steps, 16 messages") {
		t.Errorf("replay: %v\n%s%s", err, out.String(), errs.String())
	}
}

// startProxy starts the program. end tells it to end, and waits until it has.
func startProxy(t *testing.T, dir string, args []string) (url string, end func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "plimsoll", args...)
	cmd.Dir = dir
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	first, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(first, err)
	}
	m := regexp.MustCompile(`msg=listening url=(\S+)`).FindStringSubmatch(first)
	if m == nil {
		t.Fatal(first)
	}
	rest := make(chan string)
	go func() {
		all, _ := io.ReadAll(lines)
		rest <- string(all)
	}()
	return m[1], func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		log := <-rest
		if err := cmd.Wait(); err != nil || !strings.Contains(log, "msg=ended") || !strings.Contains(log, "msg=request") {
			t.Errorf("%v\n%s", err, log)
		}
	}
}
