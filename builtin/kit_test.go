package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/builtin"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

func namesOf(tools []llm.Tool) []string {
	var out []string
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return out
}

func TestKit(t *testing.T) {
	t.Run("what_policies_offer", func(t *testing.T) {
		for _, name := range policy.Presets() {
			p, err := policy.Preset(name)
			if err != nil {
				t.Fatal(err)
			}
			kitOf(t, p.Tools...)
		}
		if _, err := builtin.New([]string{"read_results"}); err == nil || !strings.Contains(err.Error(), `"read_results"`) {
			t.Errorf("want an error that names it, got %v", err)
		}
	})
	k := kitOf(t, policy.ToolReadResult, policy.ToolOutputCache, policy.ToolReadResult)
	t.Run("in_the_policys_order_each_once", func(t *testing.T) {
		if got := namesOf(k.Tools()); !slices.Equal(got, []string{"read_result", "tool_output_cache"}) {
			t.Errorf("got %q", got)
		}
		for _, tool := range k.Tools() {
			if !tool.Builtin || tool.Description == "" || tool.Schema == "" {
				t.Errorf("want it marked, described and with a schema, got %+v", tool)
			}
		}
	})
	t.Run("a_clients_tool_of_the_same_name_wins", func(t *testing.T) {
		k := k.Beside([]string{"read_result", "other"})
		if got := namesOf(k.Tools()); !slices.Equal(got, []string{"plimsoll_read_result", "tool_output_cache"}) {
			t.Errorf("got %q", got)
		}
		if k.Serves("read_result") || !k.Serves("plimsoll_read_result") || k.Serves("other") {
			t.Error("want only ours served")
		}
		s := newShelf()
		ref := s.put("abc")
		want(t, ask(t, k, s, "plimsoll_read_result", "ref_id", ref), "abc")
		k = k.Beside([]string{"read_result", "plimsoll_read_result"})
		if got := namesOf(k.Tools()); !slices.Equal(got, []string{"tool_output_cache"}) {
			t.Errorf("both names taken: got %q", got)
		}
	})
	t.Run("hints_name_a_tool_as_it_is_offered", func(t *testing.T) {
		s := newShelf()
		ref := s.put(strings.Repeat("x", 2000))
		k := kitOf(t, all...).Beside([]string{policy.ToolOutputCacheLine})
		contains(t, ask(t, k, s, policy.ToolOutputCache, "ref_id", ref), "plimsoll_tool_output_cache_line reads it")
	})
	t.Run("R002-22_no_session_to_compact", func(t *testing.T) {
		if a := ask(t, kitOf(t, policy.ToolCompactContext), newShelf(), policy.ToolCompactContext); !a.IsError {
			t.Errorf("got %q", a.Text)
		}
	})
	t.Run("a_call_for_nothing_there_is", func(t *testing.T) {
		if a := ask(t, k, newShelf(), "bash"); !a.IsError || a.Text != `There is no tool "bash" here.` {
			t.Errorf("got %+v", a)
		}
	})
	t.Run("smaller_answers", func(t *testing.T) {
		s := newShelf()
		ref := s.put(strings.Repeat("some words in a line\n", 5000))
		k := kitOf(t, all...).Within(builtin.Limits{Answer: 3000})
		for _, a := range []builtin.Answer{
			ask(t, k, s, policy.ToolOutputCache, "ref_id", ref),
			ask(t, k, s, policy.ToolOutputCacheGrep, "ref_id", ref, "pattern", "some"),
			ask(t, k, s, policy.ToolReadResult, "ref_id", ref, "limit", 100_000),
			ask(t, k, s, policy.ToolSearchContext, "query", "some"),
		} {
			if len(a.Text) > 3000 || len(a.Text) < 200 {
				t.Errorf("want it to use 3000 bytes, got %d: %.60q", len(a.Text), a.Text)
			}
		}
	})
}

func TestLimitsFor(t *testing.T) {
	for room, want := range map[int]builtin.Limits{
		1_000_000: {Answer: 65_536, Line: 1000, Extract: 12_288, Question: 1_000_000, Chunks: 1},
		131_072:   {Answer: 65_536, Line: 1000, Extract: 12_288, Question: 131_072, Chunks: 1},
		8_000:     {Answer: 4_000, Line: 1000, Extract: 4_000, Question: 8_000, Chunks: 1},
		500:       {Answer: 1_024, Line: 256, Extract: 1_024, Question: 500, Chunks: 1},
	} {
		if got := builtin.LimitsFor(room); got != want {
			t.Errorf("room for %d tokens: got %+v, want %+v", room, got, want)
		}
	}
}

// TestSchemas: every dialect can carry the definitions, and they cost what is stated here.
func TestSchemas(t *testing.T) {
	count, err := token.NewCounter("pieces", nil)
	if err != nil {
		t.Fatal(err)
	}
	tools := kitOf(t, all...).Tools()
	page, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		line := fmt.Sprintf("%-22s %4d", tool.Name, count.Tools([]llm.Tool{tool}))
		t.Log(line)
		if !strings.Contains(string(page), "//\t"+line) {
			t.Errorf("want the package comment to say what it costs: %s", line)
		}
	}
	for _, name := range policy.Presets() {
		p, _ := policy.Preset(name)
		if tools := kitOf(t, p.Tools...).Tools(); len(tools) > 0 {
			t.Logf("%-22s %4d, %q", name, count.Tools(tools), namesOf(tools))
		}
	}
	if got := count.Tools(tools); got > 700 {
		t.Errorf("want all of them within 700 tokens, got %d", got)
	}
	for _, c := range codecs.All() {
		r := llm.Request{Model: "m", Tools: tools, Messages: []llm.Message{llm.UserText("hello")}, MaxOutput: 10}
		if _, err := c.EncodeRequest(r); err != nil {
			t.Errorf("%s: %v", c.Dialect(), err)
		}
	}
}

// A call that makes no sense has an answer that says what was wanted.
func TestBadInput(t *testing.T) {
	k, s := kitOf(t, all...), newShelf()
	ref := s.put("one\ntwo\n")
	notFound := func(name string) string {
		return fmt.Sprintf("Nothing is stored under %q: not found, it may have expired.", name)
	}
	other := string(llm.RefOf([]byte("another session's")))
	for _, c := range []struct{ name, tool, args, want string }{
		{"a ref of another lineage", "tool_output_cache", `{"ref_id":"` + other + `"}`, notFound(other)},
		{"a path", "read_result", `{"ref_id":"../../etc/passwd"}`, notFound("../../etc/passwd")},
		{"a long name", "read_result", `{"ref_id":"` + strings.Repeat("x", 500) + `"}`, "Nothing is stored under \"" + strings.Repeat("x", 100) + "\"…: not found, it may have expired."},
		{"no ref", "tool_output_cache", `{}`, "tool_output_cache: ref_id: want a text, got none"},
		{"no arguments", "tool_output_cache", ``, "tool_output_cache: ref_id: want a text, got none"},
		{"null", "tool_output_cache", `null`, "tool_output_cache: ref_id: want a text, got none"},
		{"no JSON", "tool_output_cache", `{"ref_id":`, `tool_output_cache: arguments: want a JSON object, got "{\"ref_id\":"`},
		{"a list", "tool_output_cache", `["a"]`, `tool_output_cache: arguments: want a JSON object, got "[\"a\"]"`},
		{"a ref that is an object", "tool_output_cache", `{"ref_id":{"a":1}}`, `tool_output_cache: ref_id: want a text, got "{\"a\":1}"`},
		{"a number as text", "tool_output_cache", `{"ref_id":"` + ref + `","offset":"1"}`, "    2  two"},
		{"a number with a fraction of nothing", "tool_output_cache", `{"ref_id":"` + ref + `","offset":1.0,"limit":1e2}`, "    2  two"},
		{"half a line", "tool_output_cache", `{"ref_id":"` + ref + `","offset":1.5}`, `tool_output_cache: offset: want a whole number of 0 or more, got "1.5"`},
		{"no number", "tool_output_cache", `{"ref_id":"` + ref + `","offset":"all"}`, `tool_output_cache: offset: want a whole number of 0 or more, got "\"all\""`},
		{"a huge offset", "tool_output_cache", `{"ref_id":"` + ref + `","offset":99999999999999999999999}`, "Offset exceeds output length.\n[It has 2 lines.]"},
		{"a larger one", "read_result", `{"ref_id":"` + ref + `","offset":1e400}`, "Offset exceeds output length.\n[It has 8 bytes.]"},
		{"a huge limit", "tool_output_cache", `{"ref_id":"` + ref + `","offset":1,"limit":9223372036854775807}`, "    2  two"},
		{"a huge limit of bytes", "read_result", `{"ref_id":"` + ref + `","offset":3,"limit":9223372036854775807}`, "\ntwo\n"},
		{"a negative limit", "tool_output_cache", `{"ref_id":"` + ref + `","limit":-9e99}`, `tool_output_cache: limit: want a whole number of 0 or more, got "-9e99"`},
		{"context without end", "tool_output_cache_grep", `{"ref_id":"` + ref + `","pattern":"two","before":9223372036854775807,"after":9223372036854775807}`, "ref:" + ref + "\n    1  one\n    2  two"},
		{"unknown arguments", "tool_output_cache", `{"ref_id":"` + ref + `","offset":1,"colour":"red","limit":null}`, "    2  two"},
		{"another name for the ref", "tool_output_cache", `{"handle":"` + ref + `","offset":1}`, "    2  two"},
		{"a ref as it is printed", "tool_output_cache", `{"ref_id":"ref:` + ref + `","offset":1}`, "    2  two"},
		{"a ref in quotes", "tool_output_cache", `{"ref_id":" ref=\"` + ref + `\" ","offset":1}`, "    2  two"},
		{"a flag as text", "tool_output_cache_grep", `{"ref_id":"` + ref + `","pattern":"t.o","regex":"True"}`, "ref:" + ref + "\n    2  two"},
		{"no flag", "tool_output_cache_grep", `{"ref_id":"` + ref + `","pattern":"t.o","regex":"maybe"}`, `tool_output_cache_grep: regex: want true or false, got "\"maybe\""`},
		{"a pattern that is a number", "tool_output_cache_grep", `{"ref_id":"` + ref + `","pattern":404}`, "No matches for: 404"},
		{"invalid UTF-8", "tool_output_cache_grep", "{\"ref_id\":\"" + ref + "\",\"pattern\":\"a\xff\"}", "No matches for: a\uFFFD"},
		{"a large pattern", "tool_output_cache_grep", `{"ref_id":"` + ref + `","pattern":"` + strings.Repeat("x", 5000) + `"}`, "tool_output_cache_grep: pattern: want at most 4096 bytes, got 5000"},
		{"a program as pattern", "tool_output_cache_grep", `{"ref_id":"` + ref + `","pattern":"((a{1000}){1000}){1000}","regex":true}`, `tool_output_cache_grep: pattern: want an RE2 pattern, got "((a{1000}){1000}){1000}": invalid repeat count`},
		{"no query", "search_context", `{"query":"  "}`, "search_context: query: want a text, got none"},
		{"a query for nothing", "search_context", `{"query":"\" OR 1=1 --"}`, "No matches for: \" OR 1=1 --"},
	} {
		t.Run(c.name, func(t *testing.T) { want(t, call(t, k, s, c.tool, c.args), c.want) })
	}
}

// What a content is, or what becomes of a store, is said as well; the host hears of what is not the model's doing.
func TestStated(t *testing.T) {
	k, s := kitOf(t, all...), newShelf()
	readers := []string{policy.ToolOutputCache, policy.ToolOutputCacheGrep, policy.ToolReadResult, policy.ToolOutputCacheLine}
	for _, tool := range readers {
		read := func(ref string) builtin.Answer {
			return ask(t, k, s, tool, "ref_id", ref, "pattern", "x", "line_number", 1)
		}
		t.Run("nothing/"+tool, func(t *testing.T) { want(t, read(s.put("")), "The output is empty.") })
		t.Run("binary/"+tool, func(t *testing.T) {
			want(t, read(s.put("\x89PNG\r\n\x1a\n\x00\x00")), "[Binary content, 10 bytes: it cannot be shown as text.]")
		})
		t.Run("image/"+tool, func(t *testing.T) {
			for _, size := range []int{2000, 100_000} {
				before, after := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`, `"}}`
				want(t, read(s.put(before+strings.Repeat("iVBORw0K", size/8)+after)), fmt.Sprintf("%s[%d,000 bytes in base64: they cannot be shown as text.]%s", before, size/1000, after))
			}
			text := strings.Repeat("onewordwithoutablank", 40) + "\n"
			contains(t, read(s.put(strings.Repeat("lines of text ", 100)+text+"x\n")), "lines of text")
		})
		t.Run("damaged/"+tool, func(t *testing.T) {
			a := read(s.keep("damaged", &repeated{text: "line\n", n: 10, fail: 1}))
			if !a.IsError || !errors.Is(a.Fault, builtin.ErrDamaged) || !strings.Contains(a.Text, "is damaged") || strings.Contains(a.Text, "piece 7") {
				t.Errorf("got %+v", a)
			}
		})
		t.Run("store gone/"+tool, func(t *testing.T) {
			gone := &shelf{broken: errors.New("disk: secret path")}
			a := ask(t, k, gone, tool, "ref_id", s.put("x"), "pattern", "x", "line_number", 1)
			if !a.IsError || a.Fault == nil || a.Text != "The store cannot be read now." {
				t.Errorf("got %+v", a)
			}
		})
	}
	t.Run("search/store gone", func(t *testing.T) {
		a := ask(t, k, &shelf{broken: errors.New("locked")}, policy.ToolSearchContext, "query", "x")
		if !a.IsError || a.Fault == nil || a.Text != "The store cannot be read now." {
			t.Errorf("got %+v", a)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		ref := s.keep("large", &repeated{text: "line\n", n: math.MaxInt32})
		a := k.Call(ctx, s, nil, llm.ToolCall{Name: policy.ToolOutputCacheGrep, Args: `{"ref_id":"` + ref + `","pattern":"x"}`})
		if !a.IsError || !errors.Is(a.Fault, context.Canceled) || a.Text != "The call was interrupted." {
			t.Errorf("got %+v", a)
		}
	})
}

func TestSearch(t *testing.T) {
	s := newShelf()
	ref := s.put("first\nfunc Open(ctx) error\nlast")
	t.Run("hits_are_numbered_as_they_are_read", func(t *testing.T) {
		k := kitOf(t, policy.ToolSearchContext, policy.ToolOutputCache)
		want(t, ask(t, k, s, "search_context", "query", "Open"), "ref:"+ref+"\n    2  func Open(ctx) error")
	})
	t.Run("and_by_bytes_where_bytes_are_read", func(t *testing.T) {
		k := kitOf(t, policy.ToolSearchContext, policy.ToolReadResult)
		want(t, ask(t, k, s, "search_context", "query", "Open"), "ref:"+ref+" offset=6\n    2  func Open(ctx) error")
	})
}

// FuzzCall: whatever a model writes, it gets an answer.
func FuzzCall(f *testing.F) {
	s := newShelf()
	ref := s.put("one\ntwo é\xff\n" + strings.Repeat("long ", 3000) + "\r\nend")
	k := kitOf(f, all...).Within(builtin.Limits{Answer: 2000, Line: 100})
	for i := range all {
		f.Add(uint8(i), `{"ref_id":"`+ref+`","handle":"`+ref+`","pattern":"o+","regex":true,"before":1,"after":2,"line_number":3,"char_offset":5,"offset":7,"limit":9,"query":"x","extract":"two"}`)
		f.Add(uint8(i), `{"ref_id":7}`)
	}
	f.Fuzz(func(t *testing.T, i uint8, args string) {
		if i := int(i) % len(all); k.Serves(all[i]) {
			if a := call(t, k, s, all[i], args); len(a.Text) > 2000+len(args)*3 {
				t.Errorf("want 2000 bytes at most, got %d", len(a.Text))
			}
		}
	})
}
