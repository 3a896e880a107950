package verify_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/plimsoll-dev/plimsoll/replay/verify"
)

func TestSource(t *testing.T) {
	turns := talk()[:4]
	raw := body(anthropic, turns...)
	lines := []string{`{"type":"mode","value":1}`}
	for _, turn := range turns {
		lines = append(lines, `{"type":"`+turn.role+`","message":`+turn.wire(anthropic)+`}`)
	}
	missing := func(file string, o verify.SourceOptions) []string {
		t.Helper()
		got, err := verify.Source(anthropic, raw, []byte(file), o)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	own := verify.SourceOptions{Format: "claude-code", Own: []string{systemText, "look"}}
	file := strings.Join(lines, "\n")
	expect := func(t *testing.T, got []string, want ...string) {
		t.Helper()
		ok := len(got) == len(want)
		for i := 0; ok && i < len(got); i++ {
			ok = strings.Contains(got[i], want[i])
		}
		if !ok {
			t.Fatalf("missing: got %q, want %q", got, want)
		}
	}
	expect(t, missing(file, own))
	expect(t, missing(file, verify.SourceOptions{Format: "claude-code"}), "system part 0: text You look", "tool 0: tool")
	expect(t, missing("not json\n"+file+"\n{broken", own))
	first := strings.Join(lines[1:], "\n")
	expect(t, missing("\uFEFF"+first, own)) // the first message stands behind a byte-order mark
	for i, lost := range []string{"where is", `call {"at"`, "result line one", "at the bow"} {
		t.Run(lost, func(t *testing.T) {
			less := strings.Join(append(append([]string{}, lines[:i+1]...), lines[i+2:]...), "\n")
			expect(t, missing(less, own), lost)
		})
	}
	t.Run("one letter", func(t *testing.T) {
		expect(t, missing(strings.Replace(file, "at the bow", "at the bov", 1), own), "at the bow")
	})
	t.Run("other spelling", func(t *testing.T) {
		escaped := strings.Replace(file, "where is", `where\u0020is`, 1)
		escaped = strings.Replace(escaped, `{"at":"c1"}`, `{ "at" : "c1" }`, 1)
		expect(t, missing(escaped, own))
	})
	t.Run("body of a recorded exchange", func(t *testing.T) {
		spaced := strings.Replace(string(raw), `{"at":"c1"}`, `{ "at" : "c1" }`, 1)
		text, err := json.Marshal(spaced)
		if err != nil || spaced == string(raw) {
			t.Fatal(err, spaced)
		}
		got, err := verify.Source(anthropic, []byte(spaced), []byte(`[{"method":"POST","body":`+string(text)+`}]`), verify.SourceOptions{})
		if err != nil {
			t.Fatal(err)
		}
		expect(t, got)
	})
	t.Run("copy for the screen", func(t *testing.T) {
		screen := strings.Replace(file, `"message":`+turns[2].wire(anthropic), `"toolUseResult":`+turns[2].wire(anthropic), 1)
		expect(t, missing(screen, own), "result line one")
		expect(t, missing(screen, verify.SourceOptions{Own: own.Own}))
		progress := strings.Replace(file, `{"type":"tool"`, `{"type":"progress"`, 1)
		expect(t, missing(progress, own), "result line one")
	})
	t.Run("put together", func(t *testing.T) {
		composed := body(anthropic, human("notes.md\n\n# Notes\nbe brief"))
		got, err := verify.Source(anthropic, composed, []byte(`{"attachment":{"path":"notes.md","content":"# Notes\nbe brief\n"}}`), own)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, got)
		got, err = verify.Source(anthropic, composed, []byte(`{"path":"notes.md"}`+"\n"+`{"content":"# Notes\nbe brief\n"}`), own)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, got, "notes.md")
	})
	t.Run("an id told from another one", func(t *testing.T) {
		renamed := func(id string) []string {
			call := turn{"assistant", []part{{kind: "call", id: id, name: "dig", text: `{"at":2}`}}}
			raw := body(anthropic, human("dig"), call)
			got, err := verify.Source(anthropic, raw, []byte(`{"say":"dig","id":"dig:1","name":"dig","input":{"at":2}}`), own)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		expect(t, renamed("dig:1#2"))
		expect(t, renamed("dig:9#2"), `{"at":2}`)
		expect(t, renamed("dig:1#two"), `{"at":2}`)
	})
	t.Run("no JSON at all", func(t *testing.T) {
		got, err := verify.Source(anthropic, body(anthropic, human("plain words")), []byte("# chat\n> plain words\n"), own)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, got)
	})
	t.Run("events of a rollout", func(t *testing.T) {
		items := body(responses, turns[0])
		line := `{"type":"event_msg","payload":` + turns[0].wire(responses) + `}`
		got, err := verify.Source(responses, items, []byte(line+"\n"+`{"type":"x"}`), verify.SourceOptions{Format: "codex", Own: own.Own})
		if err != nil {
			t.Fatal(err)
		}
		expect(t, got, "where is")
	})
	if _, err := verify.Source("x", raw, nil, own); err == nil {
		t.Fatal("dialect: got no error")
	}
	if _, err := verify.Source(chat, []byte("{"), nil, own); err == nil {
		t.Fatal("body: got no error")
	}
}

// TestPackedFile: what the documents in a zip archive say is in the file, packed in either way.
func TestPackedFile(t *testing.T) {
	for name, method := range map[string]uint16{"stored": zip.Store, "deflated": zip.Deflate, "zstd": zstd.ZipMethodWinZip} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			w := zip.NewWriter(&b)
			w.RegisterCompressor(zstd.ZipMethodWinZip, zstd.ZipCompressor())
			f, err := w.CreateHeader(&zip.FileHeader{Name: "samples/1.json", Method: method})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write([]byte(`{"messages":[{"role":"user","content":"weigh anchor"}]}`)); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			for text, missing := range map[string]int{"weigh anchor": 0, "drop anchor": 1} {
				raw := []byte(`{"messages":[{"role":"user","content":` + quote(text) + `}]}`)
				got, err := verify.Source(chat, raw, b.Bytes(), verify.SourceOptions{Format: "inspect"})
				if err != nil || len(got) != missing {
					t.Errorf("%q: want %d missing, got %v, %v", text, missing, got, err)
				}
			}
		})
	}
}
