package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/proxy"
)

// BenchmarkExchange is a request of which all but the last message is known, to an upstream
// that answers at once: by the proxy, and without it. The difference is what it adds.
func BenchmarkExchange(b *testing.B) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`)
	}))
	defer upstream.Close()
	g, err := gateway.New(gateway.Options{})
	if err != nil {
		b.Fatal(err)
	}
	up, err := proxy.ParseUpstream("openai", upstream.URL)
	if err != nil {
		b.Fatal(err)
	}
	s, err := proxy.New(proxy.Options{Gateway: g, Upstreams: []proxy.Upstream{up}})
	if err != nil {
		b.Fatal(err)
	}
	between := httptest.NewServer(s)
	defer between.Close()
	for _, size := range []int{10_000, 100_000, 1_000_000} {
		var messages []string
		for i := range size / 1000 {
			messages = append(messages, fmt.Sprintf(`{"role":%q,"content":%q}`, []string{"user", "assistant"}[i%2], strings.Repeat(fmt.Sprintf("word%d ", i), 1000/7)))
		}
		for name, url := range map[string]string{"direct": upstream.URL, "proxy": between.URL} {
			b.Run(fmt.Sprintf("%s/%dkB", name, size/1000), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					body := fmt.Appendf(nil, `{"model":"gpt-5","messages":[%s,{"role":"user","content":"question %d"}]}`, strings.Join(messages[:len(messages)/2*2], ","), i%8)
					resp, err := plainClient.Post(url+"/v1/chat/completions", "application/json", bytes.NewReader(body))
					if err != nil {
						b.Fatal(err)
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
			})
		}
	}
}
