package proxytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
)

// prefixFailures are those by which the provider's cache of prompts was lost.
func prefixFailures() []scenario {
	return []scenario{
		{"headroom#1042_bytes_stay", bytesStay},
		{"headroom#2438_headroom#327_headroom#1636_the_cache_costs_what_it_costs_without", cacheCosts},
		{"headroom#2671_two_runs_leave_alike", runsAlike},
		{"headroom#3379_edits_come_in_batches", batches},
		{"claude-code-router#1372_claude-code-proxy#99_ccproxy-api#61_helm-api#208_attribution_stays_first", attribution},
		{"onecli#404_buzz#3463_marks_stay", marksStay},
		{"vscode#323642_no_marks_are_added", noMarks},
	}
}

// oddly writes JSON as no encoder does: other spaces, an escape, a number's own spelling.
func oddly(body []byte) []byte {
	body = bytes.ReplaceAll(body, []byte(`"messages":[`), []byte("\"zz\": [1.50, 1e3,\t-0 ] ,\n \"messages\" :  [ "))
	return bytes.ReplaceAll(body, []byte("Read all"), []byte(`R\u0065ad all`))
}

// bytesStay: while nothing is due each request of a conversation leaves with its own bytes,
// and where something was taken out the messages before and behind it have theirs.
func bytesStay(t *testing.T) {
	model := scripted(t, "window 8000\noutput 500\nreply 20 times when tools\n  call read {\"b\": 1.0, \"a\": \"\\u00e9\"}\nreply always\n  text \"Done.\"\n")
	p := before(t, model, nil, nil)
	a := testagent.New(p.url, "openai-chat", false)
	var sent [][]byte
	a.Change = func(b []byte) []byte {
		b = oddly(b)
		sent = append(sent, b)
		return b
	}
	must(t, a.Run(t.Context()))
	edited, whole := 0, 0
	for i, call := range model.Log() {
		if bytes.Equal(call.Body, sent[i]) {
			whole++
			continue
		}
		edited++
		mine := messagesOf(sent[i])
		for _, m := range messagesOf(call.Body) {
			ours := strings.Contains(m, "ref=") || strings.Contains(m, `"[Names from earlier text`)
			if !ours && !slices.Contains(mine, m) {
				t.Fatalf("request %d: a message that the client has not: %.200s", i, m)
			}
		}
	}
	if edited == 0 || whole == 0 {
		t.Errorf("%d requests edited, %d not, want some of both", edited, whole)
	}
}

// messagesOf returns the messages of a body as they are written there.
func messagesOf(body []byte) (out []string) {
	for _, list := range gjson.GetManyBytes(body, "messages", "input", "contents") {
		for _, m := range list.Array() {
			out = append(out, m.Raw)
		}
	}
	return out
}

// unmarked returns messages without cache marks.
func unmarked(all []string) []string {
	out := slices.Clone(all)
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], `,"cache_control":{"type":"ephemeral"}`, "")
	}
	return out
}

// marked puts a cache mark on the last block of the newest message, as clients do.
func marked(body []byte) []byte {
	all := gjson.GetBytes(body, "messages").Array()
	last := all[len(all)-1].Get("content")
	if !last.IsArray() {
		return body
	}
	end := bytes.LastIndexByte(body[:last.Index+len(last.Raw)-1], '}')
	return slices.Concat(body[:end], []byte(`,"cache_control":{"type":"ephemeral"}`), body[end:])
}

const longTask = `
cache min 100
%s
reply 60 times when tools
  call read {"path": "a.txt"}
reply always
  text "Done."
`

// markedRun runs an agent that sets cache marks, and returns the calls.
func markedRun(t *testing.T, settings string, through bool) []scriptmodel.Call {
	t.Helper()
	model := scripted(t, fmt.Sprintf(longTask, settings))
	p := before(t, model, nil, nil)
	if !through {
		p = direct(t, model)
	}
	a := testagent.New(p.url, "anthropic", true)
	a.Lines, a.Change = 40, marked
	if settings == "" {
		a.Lines = 10
	}
	must(t, a.Run(t.Context()))
	return noFault(t, model)
}

// cacheCosts: while nothing is due, each call reads and writes of the cache what it does
// without the proxy.
func cacheCosts(t *testing.T) {
	want, got := markedRun(t, "", false), markedRun(t, "", true)
	if len(want) != len(got) {
		t.Fatalf("%d calls, want %d", len(got), len(want))
	}
	read := 0
	for i := range want {
		if want[i].Reply.Usage != got[i].Reply.Usage || !bytes.Equal(want[i].Body, got[i].Body) {
			t.Errorf("call %d: want %+v, got %+v", i+1, want[i].Reply.Usage, got[i].Reply.Usage)
		}
		read += got[i].Reply.Usage.CacheRead
	}
	if read == 0 {
		t.Error("nothing was read of the cache")
	}
}

// runsAlike: nothing that leaves holds an id, a time or a count of its own: two proxies that
// are asked the same send the same, headers included.
func runsAlike(t *testing.T) {
	want, got := markedRun(t, "window 8000\noutput 500", true), markedRun(t, "window 8000\noutput 500", true)
	for i := range want {
		a, b := fmt.Sprint(want[i].Header), fmt.Sprint(got[i].Header)
		if !bytes.Equal(want[i].Body, got[i].Body) || a != b {
			t.Fatalf("call %d: two runs leave differently: %s, %s", i+1, a, b)
		}
	}
}

// batches: what was taken out stays as it is until the next batch, and there are few of
// them, so that most calls go on from a prefix that the provider has.
func batches(t *testing.T) {
	calls := markedRun(t, "window 8000\noutput 500", true)
	breaks, saved := 0, 0
	for i := 1; i < len(calls); i++ {
		was, is := unmarked(messagesOf(calls[i-1].Body)), unmarked(messagesOf(calls[i].Body))
		if len(is) < len(was) || !slices.Equal(was, is[:len(was)]) {
			breaks++
		}
		saved += calls[i].Reply.Usage.CacheRead
	}
	if breaks == 0 || breaks > len(calls)/5 || saved == 0 {
		t.Errorf("the prefix changed in %d of %d calls, want some and at most a fifth; %d tokens were read of the cache", breaks, len(calls), saved)
	}
}

// attribution: a first block of the system prompt that is another one in each request stays
// where it is, as it is, and the conversation is still one.
func attribution(t *testing.T) {
	model := scripted(t, fmt.Sprintf(longTask, "window 8000\noutput 500"))
	p := before(t, model, nil, nil)
	a := testagent.New(p.url, "anthropic", true)
	a.Lines = 40
	a.Each = func(n int) {
		a.System = []string{fmt.Sprintf("x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli; cch=%05x;", n*7919), "You read files."}
	}
	must(t, a.Run(t.Context()))
	sessions := map[any]bool{}
	for _, line := range p.log.Requests(t, 61) {
		sessions[line["session"]] = true
	}
	for i, call := range noFault(t, model) {
		want, err := json.Marshal(fmt.Sprintf("x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli; cch=%05x;", (i+1)*7919))
		must(t, err)
		if first := gjson.GetBytes(call.Body, "system.0.text"); first.Raw != string(want) || gjson.GetBytes(call.Body, "system.#").Int() < 2 {
			t.Fatalf("call %d: got %s", i+1, gjson.GetBytes(call.Body, "system").Raw)
		}
	}
	if len(sessions) != 1 {
		t.Errorf("%d conversations, want one", len(sessions))
	}
}

// marksStay: the mark that a client puts on its newest message stands on the newest one of
// the request that leaves, edited or not.
func marksStay(t *testing.T) {
	for i, call := range markedRun(t, "window 8000\noutput 500", true) {
		all := messagesOf(call.Body)
		if last := all[len(all)-1]; i > 0 && !strings.Contains(last, "cache_control") {
			t.Errorf("call %d: no mark on %.200s", i+1, last)
		}
	}
}

// noMarks: there are never more marks than the client's, and without its marks none.
func noMarks(t *testing.T) {
	for i, call := range markedRun(t, "window 8000\noutput 500", true) {
		if n := strings.Count(string(call.Body), "cache_control"); n > 1 {
			t.Errorf("call %d: %d marks of a client that sets one", i+1, n)
		}
	}
	model := scripted(t, fmt.Sprintf(longTask, "window 8000\noutput 500"))
	a := testagent.New(before(t, model, nil, nil).url, "anthropic", false)
	must(t, a.Run(t.Context()))
	for i, call := range noFault(t, model) {
		if strings.Contains(string(call.Body), "cache_control") {
			t.Errorf("call %d: a mark of nobody", i+1)
		}
	}
}
