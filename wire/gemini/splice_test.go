package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

func asEvents(payloads ...string) string {
	var b strings.Builder
	for _, p := range payloads {
		b.WriteString("data: " + p + "\r\n\r\n")
	}
	return b.String()
}

func asArray(payloads ...string) string { return "[" + strings.Join(payloads, ",\r\n") + "\n]\n" }

func TestSplice(t *testing.T) {
	const stop = `{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP"}],"responseId":"a"}`
	for _, x := range []struct {
		name   string
		rounds [][]string
		want   []string
	}{
		{
			name: "the last words, a hidden call and the end in one chunk; figures by modality",
			rounds: [][]string{
				{`{"candidates":[{"content":{"parts":[{"text":"x"},{"functionCall":{"name":"h","args":{}},"thoughtSignature":"c2ln"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":2,"promptTokensDetails":[{"modality":"TEXT","tokenCount":10}]},"responseId":"a"}`},
				{
					`{"candidates":[{"content":{"parts":[{"text":"y"}],"role":"model"}}],"usageMetadata":{"promptTokenCount":20},"responseId":"b"}`,
					`{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"c2ln"}],"role":"model"},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":20,"candidatesTokenCount":3,"promptTokensDetails":[{"modality":"TEXT","tokenCount":15},{"modality":"IMAGE","tokenCount":5}]},"responseId":"b"}`,
				},
			},
			want: []string{
				`{"candidates":[{"content":{"parts":[{"text":"x"}],"role":"model"},"index":0}],"responseId":"a"}`,
				`{"candidates":[{"content":{"parts":[{"text":"y"}],"role":"model"}}],"usageMetadata":{"promptTokenCount":30,"candidatesTokenCount":2,"promptTokensDetails":[{"modality":"TEXT","tokenCount":10}]},"responseId":"a"}`,
				`{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"c2ln"}],"role":"model"}}],"responseId":"a"}`,
				`{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":30,"candidatesTokenCount":5,"promptTokensDetails":[{"modality":"TEXT","tokenCount":25},{"modality":"IMAGE","tokenCount":5}]},"responseId":"a"}`,
			},
		},
		{
			name: "calls whose arguments come in pieces", rounds: [][]string{{
				`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"h","willContinue":true}}]}}],"responseId":"a"}`,
				`{"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.a","stringValue":"v"}],"willContinue":true}}]}}],"responseId":"a"}`,
				`{"candidates":[{"content":{"parts":[{"functionCall":{}}]}}],"responseId":"a"}`,
				`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","willContinue":true}}]}}],"responseId":"a"}`,
				`{"candidates":[{"content":{"parts":[{"functionCall":{}}]}}],"responseId":"a"}`, stop,
			}},
			want: []string{
				`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","willContinue":true}}]}}],"responseId":"a"}`,
				`{"candidates":[{"content":{"parts":[{"functionCall":{}}]}}],"responseId":"a"}`, stop,
			},
		},
		{
			name: "hidden calls alone, in a server's envelope", rounds: [][]string{
				{`{"response":{"candidates":[{"content":{"parts":[{"functionCall":{"name":"h"}}]}}],"responseId":"a"},"traceId":"1"}`, `{"response":` + stop + `}`},
				{`{"response":{"candidates":[{"content":{"parts":[{"text":"x"}]}}],"responseId":"b"},"traceId":"2"}`, `{"response":` + stop + `,"traceId":"2"}`},
			},
			want: []string{
				`{"response":{"candidates":[{"content":{"parts":[{"text":"x"}]}}],"responseId":"a"},"traceId":"2"}`, `{"response":` + stop + `,"traceId":"2"}`,
			},
		},
		{
			name: "nothing left but the end", rounds: [][]string{
				{`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"h"}}]}}],"responseId":"a"}`, stop},
			},
			want: []string{stop},
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			var events, arrays []string
			for _, r := range x.rounds {
				events, arrays = append(events, asEvents(r...)), append(arrays, asArray(r...))
			}
			if got, want := codectest.Joined(t, Codec{}.NewSplice(codectest.Hides, true), codectest.AtOnce, events...), asEvents(x.want...); got != want {
				t.Errorf("want\n%s\ngot\n%s", want, got)
			}
			// The other framing has the same payloads, in one array.
			rapid.Check(t, func(t *rapid.T) {
				got := codectest.Joined(t, Codec{}.NewSplice(codectest.Hides, true), func(n int) int { return rapid.IntRange(1, n).Draw(t, "cut") }, arrays...)
				var list []json.RawMessage
				if err := json.Unmarshal([]byte(got), &list); err != nil || len(list) != len(x.want) {
					t.Fatalf("want an array of %d, got %d, %v in\n%s", len(x.want), len(list), err, got)
				}
				for i, p := range list {
					if string(p) != x.want[i] {
						t.Fatalf("%d: want\n%s\ngot\n%s", i, x.want[i], p)
					}
				}
			})
		})
	}
}

// A stream of the other framing that calls nothing hidden passes byte for byte.
func TestSpliceLeavesArraysAlone(t *testing.T) {
	for _, stream := range []string{
		" \n" + asArray(`{"candidates":[{"content":{"parts":[{"text":"a]},{"}]}}]}`, `{"candidates":[{"finishReason":"STOP"}]}`), "[]", "[", "\xef\xbb\xbf[{}]",
		`{"candidates":[{"content":{"parts":[{"text":"\"\\"}]}}]}` + "\n" + `{"candidates":[{"finishReason":"STOP"}]}`, `[{"error":{"code":500}}]`, `[{"a":1} x {"b":2}]`,
	} {
		for n := 1; n <= len(stream); n++ {
			s := Codec{}.NewSplice(codectest.Hides, true)
			var got []byte
			for rest := []byte(stream); len(rest) > 0; {
				k := min(n, len(rest))
				out, err := s.Write(rest[:k])
				if err != nil {
					t.Fatal(err)
				}
				got, rest = append(got, out...), rest[k:]
			}
			_, _ = s.EndRound()
			if got = append(got, s.Finish()...); string(got) != stream {
				t.Fatalf("in pieces of %d: want\n%q\ngot\n%q", n, stream, got)
			}
		}
	}
}

// Where every chunk says that the reply stops, the next one with words says that it did not.
func TestSpliceOfChunksThatAllStop(t *testing.T) {
	chunk := func(parts string) string {
		return asEvents(`{"candidates":[{"content":{"parts":[` + parts + `]},"finishReason":"STOP"}]}`)
	}
	s := Codec{}.NewSplice(codectest.Hides, true)
	for i, x := range []struct{ in, want string }{
		{chunk(`{"text":"a"}`), ""},
		{chunk(`{"text":"b"}`), chunk(`{"text":"a"}`)},
		{chunk(`{"functionCall":{"name":"h"}}`), asEvents(`{"candidates":[{"content":{"parts":[{"text":"b"}]}}]}`)},
		{chunk(`{"text":"c"}`), asEvents(`{"candidates":[{"content":{"parts":[{"text":"c"}]}}]}`)},
	} {
		if out, err := s.Write([]byte(x.in)); err != nil || string(out) != x.want {
			t.Errorf("chunk %d: want %q, got %q, %v", i, x.want, out, err)
		}
	}
	if _, err := s.EndRound(); err != nil {
		t.Fatal(err)
	}
	if got, want := string(s.Finish()), chunk(`{"text":""}`); got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

// An array that breaks off ends with the error as its last element.
func TestSpliceFailsInAnArray(t *testing.T) {
	call := `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"h"}}]},"finishReason":"STOP"}]}`
	text := `{"candidates":[{"content":{"parts":[{"text":"x"}]}}]}`
	for _, first := range []string{asArray(call), asArray(text, call)} {
		s := Codec{}.NewSplice(codectest.Hides, true)
		out, _ := s.Write([]byte(first))
		got := bytes.Clone(out)
		if _, err := s.EndRound(); err != nil {
			t.Fatal(err)
		}
		s.Next()
		out, err := s.Write([]byte(`[{"error":{"code":503,"status":"UNAVAILABLE","message":"busy"}}]`))
		told, ok := errors.AsType[*wire.Error](err)
		if !ok {
			t.Fatalf("want the provider's error, got %v", err)
		}
		got = append(append(got, out...), s.Fail(told)...)
		var list []json.RawMessage
		if err := json.Unmarshal(got, &list); err != nil || !strings.Contains(string(list[len(list)-1]), "busy") {
			t.Errorf("want an array that ends with the error, got %v in %s", err, got)
		}
	}
}

// A reply with several candidates passes as it came, and the host is told.
func TestSpliceOfSeveralCandidates(t *testing.T) {
	reply := `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"h"}}]},"finishReason":"STOP","index":0},{"content":{"parts":[{"text":"x"}]},"index":1}]}`
	for streamed, body := range map[bool]string{true: asEvents(reply), false: reply} {
		s := Codec{}.NewSplice(codectest.Hides, streamed)
		out, err := s.Write([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		got := string(out)
		if r, err := s.EndRound(); !errors.Is(err, wire.ErrUnspliced) || len(r.Message.Calls()) != 1 {
			t.Errorf("want the reply beside %v, got %v, %v", wire.ErrUnspliced, r.Message.Parts, err)
		}
		if got += string(s.Finish()); got != body {
			t.Errorf("want\n%s\ngot\n%s", body, got)
		}
	}
}
