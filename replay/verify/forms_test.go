package verify_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/replay/verify"
)

// The same content may be written in the forms that a message takes on the way.
func TestForms(t *testing.T) {
	message := func(content string) []byte {
		return []byte(`{"messages":[{"role":"user","content":` + content + `}]}`)
	}
	same := func(a, b string) {
		t.Helper()
		want(t, check(t, anthropic, message(a), message(b), verify.Options{}))
	}
	differ := func(a, b string) {
		t.Helper()
		if check(t, anthropic, message(a), message(b), verify.Options{}).Clean() {
			t.Fatalf("%s and %s: got no findings", a, b)
		}
	}
	same(`"a \u00e9"`, `[{"type":"text","text":"a \u00e9"}]`)
	same(`[{"type":"text","text":"a"}]`, `[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]`)
	same(`[{"cache_control":null,"type":"text","text":"a"}]`, `"a"`)
	same(`[{"type":"image","source":{"data":"QQ=="}, "cache_control":{}}]`, `[{"type":"image","source":{"data":"QQ=="}}]`)
	same(`"a"`, `[{"type":"text","text":"a"},{"type":"text","text":" \n"}]`)
	differ(`"a \u00e9"`, `"a é"`)
	differ(`[{"type":"image","source":{"data":"QQ=="}}]`, `[{"type":"image","source":{"data":"QR=="}}]`)
	differ(`[{"type":"text","text":"a","citations":[{"x":1}]}]`, `"a"`)
}

// Images, parts without bytes, bytes that are no UTF-8, and formats of others.
func TestStoredForms(t *testing.T) {
	image := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}`
	raw := []byte(`{"messages":[{"role":"user","content":[` + image + `,{"type":"text","text":"what is it?"}]}]}`)
	s := store{}
	ref := s.put(image)
	t.Run("image", func(t *testing.T) {
		edited := []byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"[image: ref=` + ref + `]"},{"type":"text","text":"what is it?"}]}]}`)
		want(t, check(t, anthropic, raw, edited, verify.Options{Load: s.load}))
		want(t, check(t, anthropic, raw, edited, verify.Options{}), "unresolved: "+ref, "uncovered: media")
	})
	old := []turn{human("one"), calls("c1"), result("c1", "two"), human("three")}
	head := `{"archive":1,"from":1,"to":4}` + "\n"
	entry := func(i int, role, kind, what string) string {
		return fmt.Sprintf(`{"message":%d,"role":%q,"origin":"o","part":0,"kind":%q,%s}`+"\n", i, role, kind, what)
	}
	for name, data := range map[string]string{
		"parts without bytes": head + entry(1, "user", "text", `"text":"one"`) +
			entry(2, "assistant", "tool_call", `"text":"look {\"at\":\"c1\"}"`) + entry(3, "tool", "tool_result", `"text":"two"`),
		"another format": head + entry(1, "user", "text", `"raw":"{\"say\":\"one\"}"`) +
			entry(2, "assistant", "tool_call", `"raw":"{\"callId\":\"c1\",\"tool\":\"look\",\"args\":{ \"at\" : \"c1\" }}"`) +
			entry(3, "tool", "tool_result", `"raw":"{\"output\":[\"two\"]}"`),
		"base64": head + entry(1, "user", "text", `"raw64":"eyJ0eXBlIjoidGV4dCIsInRleHQiOiJvbmUifQ=="`) +
			entry(2, "assistant", "tool_call", `"raw":`+quote(old[1].parts[0].bytes(anthropic))) + entry(3, "tool", "tool_result", `"text":"two"`),
	} {
		t.Run(name, func(t *testing.T) {
			edited := body(anthropic, human("[ref="+s.put(data)+"]"), old[3])
			want(t, check(t, anthropic, body(anthropic, old...), edited, verify.Options{Load: s.load}))
		})
	}
	for name, call := range map[string]string{
		"another format, other arguments": `"raw":"{\"callId\":\"c1\",\"tool\":\"look\",\"args\":{\"at\":\"c2\"}}"`,
		"another format, other id":        `"raw":"{\"callId\":\"c2\",\"tool\":\"look\",\"args\":{\"at\":\"c1\"}}"`,
	} {
		t.Run(name, func(t *testing.T) {
			data := head + entry(1, "user", "text", `"text":"one"`) + entry(3, "tool", "tool_result", `"text":"two"`) + entry(2, "assistant", "tool_call", call)
			edited := body(anthropic, human("[ref="+s.put(data)+"]"), old[3])
			want(t, check(t, anthropic, body(anthropic, old...), edited, verify.Options{Load: s.load}), "uncovered: call c1")
		})
	}
	t.Run("thinking without bytes", func(t *testing.T) {
		turns := []turn{{"assistant", []part{{kind: "thinking", text: "hm"}}}, human("on")}
		for line, found := range map[string]bool{`"text":"hm","signature":"c2ln"`: true, `"text64":"aG0=","signature":"c2ln"`: true, `"text":"hm"`: false, `"text":"hm","signature":"c2lm"`: false} {
			data := `{"archive":1,"from":1,"to":2}` + "\n" + entry(1, "assistant", "thinking", line)
			f := check(t, anthropic, body(anthropic, turns...), body(anthropic, human("[ref="+s.put(data)+"]"), turns[1]), verify.Options{Load: s.load})
			if f.Clean() != found {
				t.Fatalf("%s: got %+v, want found %v", line, f, found)
			}
		}
	})
	t.Run("no UTF-8", func(t *testing.T) {
		turns := []turn{human("one"), calls("c1"), result("c1", "BYTE two"), human("three")}
		broken := func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "BYTE", "\xff\xfe")) }
		for _, stored := range []string{"\xff\xfe two", "\ufffd\ufffd two"} {
			edited := body(anthropic, replaced(turns, "c1", "[ref="+s.put(stored)+"]")...)
			want(t, check(t, anthropic, broken(body(anthropic, turns...)), edited, verify.Options{Load: s.load}))
		}
	})
}

// What a message holds beside its parts is kept around them.
func TestFrames(t *testing.T) {
	raw := []byte(`{"messages":[{"role":"user","content":"a","tag":"x"},{"role":"user","content":"b","tag":"x"},{"role":"user","content":"c"}]}`)
	entry := func(id int, text string) string {
		return fmt.Sprintf(`{"message":%d,"role":"user","origin":"human","part":0,"kind":"text","raw":%q}`+"\n", id, quote(text))
	}
	head, one, two := `{"archive":1,"from":1,"to":3}`+"\n", entry(1, "a"), entry(2, "b")
	frame := func(id int, tag string) string {
		return fmt.Sprintf(`{"message":%d,"frame":["{\"role\":\"user\",\"content\":",",\"tag\":\"%s\"}"]}`+"\n", id, tag)
	}
	frame64 := `{"message":2,"frame64":["eyJyb2xlIjoidXNlciIsImNvbnRlbnQiOg==","LCJ0YWciOiJ4In0="]}` + "\n"
	for name, c := range map[string]struct {
		archive string
		want    []string
	}{
		"both":       {head + frame(1, "x") + one + frame(2, "x") + two, nil},
		"base64":     {head + frame(1, "x") + one + frame64 + two, nil},
		"one":        {head + frame(1, "x") + one + two, []string{"uncovered: message 1 part 1: opaque"}},
		"other":      {head + frame(1, "x") + one + frame(2, "y") + two, []string{"uncovered: message 1 part 1: opaque"}},
		"not inside": {head + frame(1, "x") + one + two + frame(3, "x"), []string{"unresolved: line 5: message 3", "uncovered: a", "uncovered: tag", "uncovered: b", "uncovered: tag"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := store{}
			edited := []byte(`{"messages":[{"role":"user","content":"[ref=` + s.put(c.archive) + `]"},{"role":"user","content":"c"}]}`)
			want(t, check(t, anthropic, raw, edited, verify.Options{Load: s.load}), c.want...)
		})
	}
}
