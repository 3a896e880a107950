package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// A listener is an upstream that remembers what it was asked.
type listener struct {
	*upstream
	mu     sync.Mutex
	bodies map[string][]string // by conversation
	fail   int                 // answers the n-th request with an error; 0: none
	asked  int
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	l.mu.Lock()
	l.asked++
	failed := l.asked == l.fail
	id := r.Header.Get("X-Session-Id")
	l.bodies[id] = append(l.bodies[id], string(body))
	l.mu.Unlock()
	if failed {
		http.Error(w, "no", http.StatusInternalServerError)
		return
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	l.upstream.ServeHTTP(w, r)
}

func listening(t *testing.T) (*listener, *target) {
	t.Helper()
	l := &listener{upstream: newUpstream(0), bodies: map[string][]string{}}
	server := httptest.NewServer(l)
	t.Cleanup(server.Close)
	return l, &target{address: server.Listener.Addr().String(), talks: map[int][]*talk{}}
}

// fifty sends 50 requests over 5 connections, each of its own load so that their number is known.
func fifty(t *testing.T, to *target, h history, stream bool) (sum result) {
	t.Helper()
	for range 10 {
		r, err := load{address: to.address, header: "X-More: 1\r\n", talks: to.talksOf(h, 5), stream: stream}.run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sum.add(r)
	}
	return sum
}

func TestConversationsGrow(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream=%t", stream), func(t *testing.T) {
			l, to := listening(t)
			r := fifty(t, to, newHistory(20_000), stream)
			if r.requests != 50 || r.errors != 0 || len(r.opening) != 5 || len(r.end) != 45 || len(r.first) != 45 {
				t.Fatalf("want 50 right answers, 5 of them to openings, got %d with %d and %d, %d errors: %v", r.requests, len(r.opening), len(r.end), r.errors, r.wrong)
			}
			if len(l.bodies) != 5 {
				t.Fatalf("conversations, want 5, got %d", len(l.bodies))
			}
			for id, bodies := range l.bodies {
				checkGrowth(t, id, bodies, stream)
			}
		})
	}
}

// checkGrowth checks that each request brings all messages of the one before it and two more.
func checkGrowth(t *testing.T, id string, bodies []string, stream bool) {
	t.Helper()
	var before []json.RawMessage
	for n, body := range bodies {
		var got struct {
			Stream   bool
			Messages []json.RawMessage
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatalf("%s, request %d: %v", id, n, err)
		}
		if got.Stream != stream || n > 0 && len(got.Messages) != len(before)+2 {
			t.Fatalf("%s, request %d: want stream %t and 2 messages more than %d, got %t and %d", id, n, stream, len(before), got.Stream, len(got.Messages))
		}
		for i := range before {
			if string(before[i]) != string(got.Messages[i]) {
				t.Fatalf("%s, request %d: message %d changed", id, n, i)
			}
		}
		before = got.Messages
	}
}

func TestBodiesHaveTheirSize(t *testing.T) {
	for _, size := range []int{10_000, 100_000, 1_000_000} {
		h, names := newHistory(size), 0
		talk := newTalk(h, func() string { names++; return "c" })
		sum := 0
		for range h.life {
			pieces, _ := talk.ask(false)
			for _, p := range pieces {
				sum += len(p)
			}
		}
		if mean := sum / h.life; mean < size*9/10 || mean > size*11/10 || names != 1 {
			t.Errorf("mean body of one conversation, want %d and a tenth more or less, got %d in %d conversations", size, mean, names)
		}
		if _, opening := talk.ask(false); !opening || names != 2 {
			t.Errorf("after %d requests, want another conversation, got %d", h.life, names)
		}
	}
}

func TestErrorsAreCounted(t *testing.T) {
	l, to := listening(t)
	l.fail = 7
	r := fifty(t, to, newHistory(10_000), true)
	if r.requests != 49 || r.errors != 1 || r.wrong == nil || !strings.Contains(r.wrong.Error(), "500") {
		t.Fatalf("want 49 right answers and one error with its status, got %d and %d: %v", r.requests, r.errors, r.wrong)
	}
}

func TestStreamsThatEndEarlyAreErrors(t *testing.T) {
	l, to := listening(t)
	l.parts = l.parts[:len(l.parts)-1]
	if r := fifty(t, to, newHistory(10_000), true); r.errors != 50 {
		t.Fatalf("streams without their end, want 50 errors, got %d", r.errors)
	}
}

func TestARateIsKept(t *testing.T) {
	_, to := listening(t)
	const rate, parts = 400, 10
	r, err := load{address: to.address, talks: to.talksOf(newHistory(10_000), 4), rate: rate, lasts: time.Second / parts}.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// A slow machine sends fewer, and none sends more.
	if r.requests == 0 || r.requests > rate/parts {
		t.Fatalf("requests, want at most %d, got %d", rate/parts, r.requests)
	}
}

func TestALoadEndsWithItsContext(t *testing.T) {
	_, to := listening(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (load{address: to.address, talks: to.talksOf(newHistory(10_000), 2), lasts: time.Hour}).run(ctx); err == nil {
		t.Fatal("want the error of the context, got none")
	}
}

func TestQuantile(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(100-i))
	}
	for _, c := range []struct {
		all  []time.Duration
		p    float64
		want time.Duration
	}{{nil, 0.5, 0}, {[]time.Duration{7}, 0.99, 7}, {hundred, 0.5, 50}, {hundred, 0.99, 99}, {hundred, 1, 100}, {[]time.Duration{3, 1, 2}, 0.5, 2}} {
		if got := quantile(c.all, c.p); got != c.want {
			t.Errorf("quantile %g of %d values, want %d, got %d", c.p, len(c.all), c.want, got)
		}
	}
	if got := median([]float64{5, 1, 9, 3}); got != 3 {
		t.Errorf("median, want 3, got %g", got)
	}
}

func TestTables(t *testing.T) {
	_, to := listening(t)
	to.name = "direct"
	other := &target{name: "other", address: to.address, talks: map[int][]*talk{}}
	s := &series{options: options{rounds: 2, lasts: time.Millisecond, rate: 1000}, targets: []*target{to, other}, log: log.New(io.Discard, "", 0)}
	if err := s.measure(t.Context(), []int{10_000}, []int{1, 3}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := s.print(&out); err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(out.String(), "| to the first byte")
	rows := strings.Count(first, "\n| 10 kB")
	if want := len(s.options.cells(10_000, []int{1, 3})); rows != want || !strings.Contains(first, "| direct | other |") {
		t.Fatalf("rows of the first table, want one for each cell, %d, got %d:\n%s", want, rows, out.String())
	}
	for c, figures := range s.figures {
		for i, f := range figures {
			if len(f.end50) != 2 || f.errors != 0 {
				t.Errorf("%v of %s, want 2 rounds without errors, got %d with %d", c, s.targets[i].name, len(f.end50), f.errors)
			}
		}
	}
}
