package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/builtin"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A model is a function, and what it was asked.
type model struct {
	reply func(r llm.Request) llm.Response
	fail  error
	asked []llm.Request
}

func (m *model) Complete(_ context.Context, r llm.Request) (llm.Response, error) {
	m.asked = append(m.asked, r)
	if m.fail != nil {
		return llm.Response{}, m.fail
	}
	resp := m.reply(r)
	resp.Usage = llm.Usage{Input: 10, Output: 1}
	return resp, nil
}

// says is a reply with a text.
func says(text string) llm.Response {
	return llm.Response{Message: llm.AssistantText(text), Stop: llm.StopEnd}
}

// calls is a reply that calls a tool with arguments "name", value, ...
func calls(tool string, pairs ...any) llm.Response {
	fields := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		fields[pairs[i].(string)] = pairs[i+1]
	}
	b, _ := json.Marshal(fields)
	return llm.Response{Message: llm.AssistantText("", llm.ToolCall{CallID: "c", Name: tool, Args: string(b)}), Stop: llm.StopTool}
}

// textOf is all that a request says, the system prompt apart.
func textOf(r llm.Request) string {
	var out []string
	for _, m := range r.Messages {
		out = append(out, m.Text())
		for _, res := range m.Results() {
			out = append(out, res.Text())
		}
	}
	return strings.Join(out, "\n")
}

// get calls tool_output and checks what holds for any answer.
func get(t *testing.T, k builtin.Kit, s builtin.Source, m builtin.Model, pairs ...any) builtin.Answer {
	t.Helper()
	fields := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		fields[pairs[i].(string)] = pairs[i+1]
	}
	b, _ := json.Marshal(fields)
	a := k.Call(t.Context(), s, m, llm.ToolCall{CallID: "1", Name: policy.ToolOutput, Args: string(b)})
	if a.Text == "" || len(a.Text) > 12_288 {
		t.Fatalf("want an answer within 12,288 bytes, got %d", len(a.Text))
	}
	return a
}

// A made content knows its tool.
type made struct{ *content }

func (made) Tool() string { return "bash" }

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of the output, and some more words\n", i)
	}
	return b.String()
}

func TestExtract(t *testing.T) {
	k, s := kitOf(t, policy.ToolOutput).Within(builtin.Limits{Question: 3000}), newShelf()
	text := numbered(2000)
	ref := s.keep("log", made{newContent(text)})
	head := func(strategy string) string {
		return "[From the output of bash, handle=" + ref + ", strategy=" + strategy + "]\n"
	}
	echo := &model{reply: func(r llm.Request) llm.Response {
		return says("<extract>" + fmt.Sprint(strings.Count(textOf(r), "\n")) + "</extract>")
	}}

	t.Run("R000-21_full-chunked_asks_about_overlapping_parts_and_reduces_once", func(t *testing.T) {
		m := &model{reply: echo.reply}
		a := get(t, k, s, m, "handle", ref, "extract", "how many lines", "mode", "full-chunked")
		if !strings.HasPrefix(a.Text, head("full-chunked")) || a.Fault != nil {
			t.Errorf("got %q, %v", a.Text, a.Fault)
		}
		if a.Usage.Input != 10*len(m.asked) {
			t.Errorf("want the usage of %d questions, got %+v", len(m.asked), a.Usage)
		}
		joined, last := "", len(m.asked)-1
		for i, r := range m.asked[:last] {
			_, part, _ := strings.Cut(textOf(r), "<output>\n")
			part = strings.TrimSuffix(part, "\n</output>")
			at := strings.Index(text, part)
			if at < 0 || at > len(joined) || i > 0 && len(joined)-at < len(part)/20 {
				t.Fatalf("part %d: want it in the output, overlapping the one before", i+1)
			}
			joined = text[:at+len(part)]
		}
		if joined != text {
			t.Errorf("want all of the output asked about, got %d of %d bytes", len(joined), len(text))
		}
		if got := textOf(m.asked[last]); !strings.Contains(got, "answers about parts") {
			t.Errorf("want one reduce at the end, got %.200q", got)
		}
	})
	t.Run("R000-21_full-chunked_without_an_answer_to_a_part", func(t *testing.T) {
		m := &model{reply: func(llm.Request) llm.Response { return says("<extract>NO RELEVANT DATA FOUND</extract>") }}
		want(t, get(t, k, s, m, "handle", ref, "extract", "x", "mode", "full-chunked"), head("full-chunked")+"NO RELEVANT DATA FOUND")
	})
	t.Run("R000-21_read-grep_is_a_conversation_with_tools_on_this_output_alone", func(t *testing.T) {
		other := s.put("secret of another output")
		m := &model{}
		m.reply = func(r llm.Request) llm.Response {
			switch len(m.asked) {
			case 1:
				return calls("tool_output_cache_grep", "ref_id", ref, "pattern", "line 1234 ")
			case 2:
				return calls("tool_output_cache", "ref_id", other)
			}
			return says("It is this. <extract>" + strings.Join(strings.Fields(textOf(r))[:3], " ") + "</extract>")
		}
		a := get(t, k, s, m, "handle", ref, "extract", "line 1234", "mode", "read-grep")
		want(t, a, head("read-grep")+"What is needed:")
		seen := textOf(m.asked[2])
		if !strings.Contains(seen, " 1235  line 1234 of the output") || !strings.Contains(seen, "not found, it may have expired") || strings.Contains(seen, "secret") {
			t.Errorf("want its own output searched and no other, got %q", seen)
		}
		for _, tool := range m.asked[0].Tools {
			if tool.Name != policy.ToolOutputCache && tool.Name != policy.ToolOutputCacheGrep && tool.Name != policy.ToolOutputCacheLine {
				t.Errorf("want tools that read and grep, got %s", tool.Name)
			}
		}
	})
	t.Run("R000-21_read-grep_ends", func(t *testing.T) {
		m := &model{reply: func(llm.Request) llm.Response { return calls("tool_output_cache", "ref_id", ref, "limit", 1) }}
		a := get(t, k, s, m, "handle", ref, "extract", "x", "mode", "read-grep")
		contains(t, a, "strategy=truncate; read-grep: the search came to no end]\n", "bytes left out")
		if len(m.asked) > 15 || m.asked[len(m.asked)-1].Settings.Choice.Mode != llm.ChoiceNone {
			t.Errorf("want 15 questions at most and no tools in the last, got %d", len(m.asked))
		}
	})
	t.Run("R000-21_questions_keep_to_the_room_of_the_model", func(t *testing.T) {
		m := &model{}
		m.reply = func(llm.Request) llm.Response {
			return calls("tool_output_cache", "ref_id", ref, "offset", len(m.asked)*10)
		}
		get(t, k, s, m, "handle", ref, "extract", "x", "mode", "read-grep")
		m2 := &model{reply: echo.reply}
		get(t, k, s, m2, "handle", ref, "extract", "x", "mode", "full-chunked")
		count, err := token.NewCounter("pieces", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range append(m.asked, m2.asked...) {
			n := count.Tools(r.Tools) + count.Text(r.Sections[0].Text)
			for _, msg := range r.Messages {
				n += count.Message(msg)
			}
			if n > 3000 {
				t.Errorf("want at most 3000 tokens, got %d", n)
			}
		}
	})
	t.Run("R000-21_truncate_keeps_both_ends", func(t *testing.T) {
		a := get(t, k, s, echo, "handle", ref, "extract", "x", "mode", "truncate")
		contains(t, a, head("truncate")+text[:5000], text[len(text)-5000:], " bytes left out ...]")
	})
	t.Run("R000-21_a_small_output_is_never_truncated", func(t *testing.T) {
		ref := s.put(numbered(10))
		a := get(t, k, s, nil, "handle", ref, "extract", "x")
		want(t, a, "[From the output of a tool, handle="+ref+", strategy=truncate]\n"+numbered(10))
	})
	t.Run("R000-21_a_handle_that_is_not_there", func(t *testing.T) {
		a := get(t, k, s, echo, "handle", "session-1/2", "extract", "x")
		want(t, a, `Nothing is stored under "session-1/2": not found, it may have expired.`)
		if a.IsError {
			t.Error("want it to be no error")
		}
	})
	t.Run("R000-21_what_is_missing_is_an_error", func(t *testing.T) {
		for _, a := range []builtin.Answer{
			get(t, k, s, echo, "handle", ref), get(t, k, s, echo, "extract", "x"), get(t, k, s, echo, "handle", ref, "extract", "x", "mode", "guess"),
		} {
			if !a.IsError || !strings.Contains(a.Text, "want ") {
				t.Errorf("got %+v", a)
			}
		}
	})
}

// Which way auto goes, and which one stands in for another.
func TestExtractWays(t *testing.T) {
	s := newShelf()
	lines := s.put(numbered(2000))
	long := s.put(strings.ReplaceAll(numbered(2000), "\n", ";"))
	small := s.put(numbered(300))
	good := func(llm.Request) llm.Response { return says("<extract>ok</extract>") }
	cut := func(llm.Request) llm.Response {
		r := says("<extract>ok</extract>")
		r.Stop = llm.StopLength
		return r
	}
	bare := func(llm.Request) llm.Response { return says("ok") }
	for _, c := range []struct {
		name, ref, mode string
		m               *model
		want            string
	}{
		{"R000-21_auto_reads_what_has_room_in_one_question", small, "auto", &model{reply: good}, "strategy=full-chunked]"},
		{"R000-21_auto_searches_what_has_not", lines, "", &model{reply: good}, "strategy=read-grep]"},
		{"R000-21_auto_searches_long_lines_too", long, "auto", &model{reply: good}, "strategy=read-grep]"},
		{"R000-21_an_answer_without_its_frame", small, "auto", &model{reply: bare}, "strategy=truncate; full-chunked: the answer had no frame; read-grep: the answer had no frame]"},
		{"R000-21_an_answer_that_was_cut_off", small, "read-grep", &model{reply: cut}, "strategy=truncate; read-grep: the answer was cut off]"},
		{"R000-21_a_model_that_fails", small, "full-chunked", &model{fail: errors.New("status 500: key sk-1")}, "strategy=truncate; full-chunked: no model answered; read-grep: no model answered]"},
		{"R000-21_no_model", lines, "full-chunked", nil, "strategy=grep; full-chunked: there is no model to ask]"},
		{"R000-21_no_model_and_no_word", lines, "auto", nil, "strategy=truncate; grep: no line has a word of what is needed]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m builtin.Model
			extract := "some words"
			if c.m != nil {
				m = c.m
			}
			if c.m == nil && c.mode == "auto" {
				extract = "giraffes"
			}
			k := kitOf(t, policy.ToolOutput).Within(builtin.Limits{Question: 5000})
			a := get(t, k, s, m, "handle", c.ref, "extract", extract, "mode", c.mode)
			contains(t, a, c.want)
			if failed := c.m != nil && c.m.fail != nil; failed != (a.Fault != nil) || a.IsError {
				t.Errorf("want the model's failure to be a fault of an answer that is none, got %v, %v", a.Fault, a.IsError)
			}
		})
	}
	t.Run("R000-21_more_than_32_questions", func(t *testing.T) {
		ref := s.keep("large", &repeated{text: "words of a line\n", n: 100_000})
		a := get(t, kitOf(t, policy.ToolOutput).Within(builtin.Limits{Question: 3000}), s, &model{reply: good}, "handle", ref, "extract", "x", "mode", "full-chunked")
		contains(t, a, "strategy=read-grep; full-chunked: it takes more than 32 questions]")
	})
	t.Run("R000-21_a_model_without_room", func(t *testing.T) {
		a := get(t, kitOf(t, policy.ToolOutput).Within(builtin.Limits{Question: 300}), s, &model{reply: good}, "handle", lines, "extract", "x", "mode", "full-chunked")
		contains(t, a, "strategy=truncate; full-chunked: a question has no room; read-grep: a question has no room]")
	})
	t.Run("R000-21_long_lines_are_searched_by_bytes", func(t *testing.T) {
		m := &model{}
		m.reply = func(r llm.Request) llm.Response {
			if len(m.asked) == 1 {
				return calls("tool_output_cache_grep", "ref_id", long, "pattern", "line 1999 ")
			}
			_, at, _ := strings.Cut(textOf(r), "[offset=")
			at, _, _ = strings.Cut(at, "]")
			if len(m.asked) == 2 {
				return calls("read_result", "ref_id", long, "offset", at, "limit", "200")
			}
			return says("<extract>" + textOf(r)[strings.LastIndex(textOf(r), "line 1999"):] + "</extract>")
		}
		k := kitOf(t, policy.ToolOutput).Within(builtin.Limits{Question: 5000})
		contains(t, get(t, k, s, m, "handle", long, "extract", "line 1999"), "strategy=read-grep]\nline 1999 of the output, and")
	})
	t.Run("R000-21_damage_is_passed_by_and_told", func(t *testing.T) {
		ref := s.keep("damaged", &repeated{text: strings.Repeat("x", 99) + "\n", n: 1000, fail: 50_000})
		a := get(t, kitOf(t, policy.ToolOutput), s, nil, "handle", ref, "extract", "giraffes", "mode", "auto")
		if !errors.Is(a.Fault, builtin.ErrDamaged) || !a.IsError {
			t.Errorf("got %+v", a)
		}
	})
}

// Without a model the lines that have the rare words of what is needed are shown.
func TestExtractByWords(t *testing.T) {
	s := newShelf()
	text := numbered(5000) + "ERROR in core/edit/fold.go:17: line 3 of the output overlaps\n" + numbered(5000)
	a := get(t, kitOf(t, policy.ToolOutput), s, nil, "handle", s.put(text), "extract", "Which error is reported for core/edit/fold.go?")
	contains(t, a, "strategy=grep]\n", " 5001  ERROR in core/edit/fold.go:17: line 3")
	one := strings.ReplaceAll(text, "\n", " ")
	a = get(t, kitOf(t, policy.ToolOutput), s, nil, "handle", s.put(one), "extract", "Which error is reported for core/edit/fold.go?")
	contains(t, a, "strategy=grep]\n", "ERROR in core/edit/fold.go:17: line 3")
}
