//go:build unix

package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/proxy"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// BenchmarkGrowing is a request of about 100 kB of a conversation that grows by a question
// each time, with the store in a file: by the proxy, and without it. Client and upstream are
// in what cpu-µs/op says, so that the difference is what the proxy takes.
func BenchmarkGrowing(b *testing.B) {
	const usage = `"usage":{"prompt_tokens":2000,"completion_tokens":150,"total_tokens":2150}`
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !bytes.Contains(body[:64], []byte(`"stream":true`)) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],`+usage+`}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for range 20 {
			_, _ = io.WriteString(w, `data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"word "},"finish_reason":null}]}`+"\n\n")
			w.(http.Flusher).Flush()
		}
		_, _ = io.WriteString(w, `data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],`+usage+"}\n\ndata: [DONE]\n\n")
	}))
	defer upstream.Close()
	st, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "b.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	g, err := gateway.New(gateway.Options{Store: st})
	if err != nil {
		b.Fatal(err)
	}
	up, err := proxy.ParseUpstream("openai", upstream.URL)
	if err != nil {
		b.Fatal(err)
	}
	s, err := proxy.New(proxy.Options{Gateway: g, Upstreams: []proxy.Upstream{up}, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	between := httptest.NewServer(s)
	defer between.Close()
	var history strings.Builder
	for i := range 100 {
		fmt.Fprintf(&history, `{"role":%q,"content":%q},`, []string{"user", "assistant"}[i%2], strings.Repeat(fmt.Sprintf("word%d of it, ", i), 70))
	}
	talks := 0
	for _, stream := range []string{"", `"stream":true,"stream_options":{"include_usage":true},`} {
		for _, to := range []struct{ name, url string }{{"direct", upstream.URL}, {"proxy", between.URL}} {
			b.Run(fmt.Sprintf("%s/stream_%t", to.name, stream != ""), func(b *testing.B) {
				b.ReportAllocs()
				var tail []byte
				before := processorTime()
				for i := 0; b.Loop(); i++ {
					if i%250 == 0 {
						talks, tail = talks+1, nil
					} else {
						tail = append(tail, `{"role":"assistant","content":"ok"},`...)
					}
					tail = fmt.Appendf(tail, `{"role":"user","content":"And question %d: what does the next file of this folder say?"},`, i)
					body := fmt.Appendf(nil, `{"model":"gpt-5",%s"messages":[%s%s]}`, stream, history.String(), tail[:len(tail)-1])
					req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, to.url+"/v1/chat/completions", bytes.NewReader(body))
					if err != nil {
						b.Fatal(err)
					}
					req.Header.Set("X-Session-Id", fmt.Sprint("talk ", talks))
					resp, err := plainClient.Do(req)
					if err != nil || resp.StatusCode != http.StatusOK {
						b.Fatal(err, resp)
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
				b.ReportMetric(float64((processorTime()-before).Microseconds())/float64(b.N), "cpu-µs/op")
			})
		}
	}
}

// processorTime is what this process has taken.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
