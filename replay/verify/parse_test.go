package verify_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/replay/verify"
)

func TestParse(t *testing.T) {
	each(t, func(t *testing.T, d string) {
		turns := append(talk()[:2], result("c1", "a \"b\"\n\té \u2028"))
		turns[1].parts = append([]part{{kind: "thinking", text: "hm"}}, turns[1].parts...)
		b, err := verify.Parse(d, body(d, turns...))
		if err != nil {
			t.Fatal(err)
		}
		system := b.System
		if d == chat {
			system = b.Messages[0].Parts
			b.Messages = b.Messages[1:]
		}
		if len(system) != 1 || system[0].Text != systemText || len(b.Tools) != 1 || b.Tools[0].Name != "look" || b.Fields[0].Name != "model" {
			t.Fatalf("head: got %+v", b)
		}
		got := map[verify.Kind]verify.Part{}
		for _, m := range b.Messages {
			for _, p := range m.Parts {
				got[p.Kind] = p
			}
		}
		if p := got[verify.Call]; p.CallID != "c1" || p.Name != "look" || p.Text != `{"at":"c1"}` || p.Hosted {
			t.Errorf("call: got %+v", p)
		}
		if p := got[verify.Result]; p.CallID != "c1" || p.Text != "a \"b\"\n\té \u2028" {
			t.Errorf("result: got %+v", p)
		}
		if p := got[verify.Text]; p.Text != "where is the anchor?" {
			t.Errorf("text: got %+v", p)
		}
		if p := got[verify.Thinking]; p.Text != "hm" {
			t.Errorf("thinking: got %+v", p)
		}
	})
}

func TestParseInput(t *testing.T) {
	b, err := verify.Parse(responses, []byte(`{"input":"hi","model":"m"}`))
	if err != nil || len(b.Messages) != 1 || b.Messages[0].Parts[0].Text != "hi" {
		t.Fatalf("string: got %+v, %v", b, err)
	}
	want(t, check(t, responses, []byte(`{"input":"hi"}`), []byte(`{"input":[{"role":"user","content":"hi"}]}`), verify.Options{}))
}

// Strings are decoded as JSON says, also where a pair of surrogates is not whole.
func TestParseStrings(t *testing.T) {
	for literal, text := range map[string]string{
		`"\u00e9\ud83d\ude00"`: "é😀",
		`"\ud83d!"`:            "\ufffd!",
		`"\ud83d\u0041b"`:      "\ufffdAb",
		`"\ude00\n\\\"\/\t"`:   "\ufffd\n\\\"/\t",
		`"\ud83d\ud83d\ude00"`: "\ufffd😀",
		"\"\xff\xfe\"":         "\xff\xfe",
	} {
		b, err := verify.Parse(anthropic, []byte(`{"messages":[{"role":"user","content":`+literal+`}]}`))
		if err != nil {
			t.Fatalf("%s: %v", literal, err)
		}
		if got := b.Messages[0].Parts[0].Text; got != text {
			t.Errorf("%s: got %q, want %q", literal, got, text)
		}
	}
}

func TestParseErrors(t *testing.T) {
	deep := strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
	for name, b := range map[string]string{
		"empty":            ``,
		"no object":        `[]`,
		"no messages":      `{"model":"m"}`,
		"messages no list": `{"messages":{}}`,
		"no message":       `{"messages":[1]}`,
		"cut off":          `{"messages":[{"role":"user","content":"x"}`,
		"cut in a string":  `{"messages":[{"role":"user","content":"x`,
		"no comma":         `{"messages":[{} {}]}`,
		"comma too much":   `{"messages":[{},]}`,
		"no colon":         `{"messages" []}`,
		"no name":          `{messages:[]}`,
		"broken message":   `{"messages":[{"role":user}]}`,
		"broken value":     `{"messages":[],"model":nope}`,
		"after the end":    `{"messages":[]} x`,
		"twice":            `{"messages":[],"messages":[]}`,
		"deep":             `{"messages":[{"role":"user","content":` + deep + `}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := verify.Parse(anthropic, []byte(b))
			var syntax *verify.SyntaxError
			if !errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(b) {
				t.Fatalf("got %v, want a SyntaxError with its place", err)
			}
		})
	}
	if _, err := verify.Parse("cohere", []byte(`{}`)); !errors.Is(err, verify.ErrDialect) {
		t.Fatalf("dialect: got %v, want ErrDialect", err)
	}
	if _, err := verify.NewChecker(""); !errors.Is(err, verify.ErrDialect) {
		t.Fatalf("dialect: got %v, want ErrDialect", err)
	}
	if _, err := verify.Compare(chat, []byte(`{"messages":[]}`), []byte(`{`), verify.Options{}); err == nil {
		t.Fatal("edited body: got no error")
	}
}

// corpus calls f for every file below a folder of the corpus.
func corpus(t *testing.T, folder string, f func(t *testing.T, data []byte)) {
	root := os.Getenv("PLIMSOLL_CORPUS")
	if root == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: the corpus is not read")
	}
	n := 0
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		t.Run(filepath.Base(path), func(t *testing.T) { f(t, data) })
		return nil
	})
	if err != nil || n == 0 {
		t.Fatalf("%s: got %d files, %v", folder, n, err)
	}
}

// Real bodies parse, every byte of content is in a part, nothing is wrong with them,
// and removing anything is found.
func TestCorpus(t *testing.T) {
	each(t, func(t *testing.T, d string) {
		corpus(t, "request-bodies-"+d, func(t *testing.T, data []byte) {
			b, err := verify.Parse(d, data)
			if err != nil {
				t.Fatal(err)
			}
			want(t, check(t, d, data, data, verify.Options{}))
			missing, err := verify.Source(d, data, data, verify.SourceOptions{})
			if err != nil || len(missing) > 0 {
				t.Fatalf("source: got %q, %v", missing, err)
			}
			for i, m := range b.Messages {
				var plain struct {
					Content string `json:"content"`
				}
				empty := json.Unmarshal(m.Raw, &plain) == nil && plain.Content == ""
				if len(m.Parts) == 0 && !empty {
					t.Errorf("message %d of role %q has no parts", i, m.Role)
				}
				rest := strings.Replace(string(data), string(m.Raw), `{"role":"user","content":[]}`, 1)
				if !json.Valid([]byte(rest)) || len(m.Parts) == 0 {
					continue
				}
				if f := check(t, d, data, []byte(rest), verify.Options{}); len(f.Uncovered) == 0 {
					t.Errorf("message %d left and nothing is uncovered", i)
				}
			}
		})
	})
}
