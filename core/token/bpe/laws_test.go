package bpe

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestLoad(t *testing.T) {
	t.Run("R000-19_encodings_by_name", func(t *testing.T) {
		for _, name := range []string{"cl100k_base", "o200k_base", "o200k_harmony"} {
			enc, err := Load(name)
			if err != nil {
				t.Fatal(err)
			}
			if enc.Name() != name {
				t.Errorf("Load(%q).Name() = %q", name, enc.Name())
			}
		}
	})
	t.Run("unknown_name_lists_the_known", func(t *testing.T) {
		_, err := Load("p50k_base")
		if !errors.Is(err, ErrUnknownEncoding) {
			t.Fatalf("error = %v, want ErrUnknownEncoding", err)
		}
		for _, want := range []string{"cl100k_base", "o200k_base", "o200k_harmony", "p50k_base"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error = %v, want it to name %s", err, want)
			}
		}
	})
	t.Run("stays_within_32_MB", func(t *testing.T) {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		enc, err := O200kBase()
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after) // what loading left behind is counted too
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 32<<20 {
			t.Errorf("heap after loading %s grew by %d bytes, want at most 32 MiB", enc.Name(), grown)
		}
	})
}

// valid replaces bytes outside valid sequences one by one, as the language does when it ranges over a string.
func valid(text string) string { return string([]rune(text)) }

// checkLaws states what holds for any text.
func checkLaws(t interface{ Fatalf(string, ...any) }, enc *Encoding, text string) []uint32 {
	ids := enc.Append(nil, text)
	if again := enc.Append([]uint32{7}, valid(text)); !slices.Equal(again[1:], ids) || again[0] != 7 {
		t.Fatalf("%s: Append([7], valid(%q)) = %v, want 7 and %v", enc.Name(), text, again, ids)
	}
	if n, m := enc.Count(text), enc.CountBytes([]byte(text)); n != len(ids) || m != len(ids) {
		t.Fatalf("%s: Count(%q) = %d, CountBytes %d, want %d", enc.Name(), text, n, m, len(ids))
	}
	if out, err := enc.Decode(ids); err != nil || string(out) != valid(text) {
		t.Fatalf("%s: Decode(Append(%q)) = %q, %v", enc.Name(), text, out, err)
	}
	return ids
}

func TestLawsOnAnyBytes(t *testing.T) {
	for _, enc := range everyEncoding(t) {
		rapid.Check(t, func(t *rapid.T) {
			checkLaws(t, enc, string(rapid.SliceOfN(rapid.Byte(), 0, 400).Draw(t, "bytes")))
		})
		rapid.Check(t, func(t *rapid.T) { checkLaws(t, enc, rapid.String().Draw(t, "text")) })
	}
}

func TestInvalidBytesAreReplacementCharacters(t *testing.T) {
	for _, enc := range everyEncoding(t) {
		for _, c := range []struct{ text, want string }{
			{"a\xffb", "a\uFFFDb"},
			{"\xe4\xb8", "\uFFFD\uFFFD"},           // a character cut off
			{"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"}, // a surrogate
			{"\xc0\xaf", "\uFFFD\uFFFD"},           // an overlong form
		} {
			if got, want := enc.Append(nil, c.text), enc.Append(nil, c.want); !slices.Equal(got, want) {
				t.Errorf("%s: Append(%q) = %v, want %v", enc.Name(), c.text, got, want)
			}
		}
	}
}

func TestDecodeRefusesUnknownIDs(t *testing.T) {
	for _, enc := range everyEncoding(t) {
		for _, id := range []uint32{201_088, 1 << 31, none} {
			if out, err := enc.Decode([]uint32{0, id}); err == nil || out != nil {
				t.Errorf("%s: Decode([0 %d]) = %q, %v, want an error", enc.Name(), id, out, err)
			}
		}
	}
}

func TestCountAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes pools forget")
	}
	for _, enc := range everyEncoding(t)[:2] {
		for _, kind := range textKinds() {
			text := generate(kind, 20_000) + "\xff"
			for _, s := range []string{text, text[:len(text)-1], text[:40]} {
				b := []byte(s)
				if n := testing.AllocsPerRun(20, func() { enc.Count(s); enc.CountBytes(b) }); n != 0 {
					t.Errorf("%s: %s of %d bytes: %v allocations a count, want 0", enc.Name(), kind, len(s), n)
				}
			}
		}
	}
}

func TestAppendEqualsTwin(t *testing.T) {
	for _, enc := range everyEncoding(t)[:2] {
		dumb := newTwin(enc)
		rng := rand.New(rand.NewPCG(3, 5))
		var texts []string
		for _, kind := range textKinds() {
			texts = append(texts, generate(kind, 10_000)[:10_000])
		}
		for n := range 400 {
			size := 1 + rng.IntN(200)
			if n%40 == 0 {
				size = 20_000
			}
			texts = append(texts, adversarial(rng, enc, size))
		}
		texts = append(texts, generate("prose", 100_000), generate("cjk", 100_000))
		for _, text := range texts {
			text = valid(text)
			if !dumb.knows(text) {
				continue
			}
			if got, want := enc.Append(nil, text), dumb.encode(text); !slices.Equal(got, want) {
				t.Errorf("%s: ids of %.80q… (%d bytes) differ from the twin's", enc.Name(), text, len(text))
			}
		}
	}
}

// TestLongPiecesEqualTwin compares pieces of up to one megabyte that no pattern splits.
func TestLongPiecesEqualTwin(t *testing.T) {
	const size = 100_000
	for _, enc := range everyEncoding(t)[:2] {
		dumb := newTwin(enc)
		rng := rand.New(rand.NewPCG(13, 17))
		letters := make([]byte, size)
		for i := range letters {
			letters[i] = byte('a' + rng.IntN(26))
		}
		for _, text := range []string{
			strings.Repeat("a", 10*size), strings.Repeat("ab", size/2), strings.Repeat("=", size), strings.Repeat("中", size/3),
			strings.Repeat("aab", size/3) + "x", string(letters), strings.Repeat(" ", size) + "x", strings.Repeat("\n", size),
		} {
			got := enc.Append(nil, text)
			if n := enc.Count(text); n != len(got) {
				t.Errorf("%s: Count of %.10q… = %d, want %d", enc.Name(), text, n, len(got))
			}
			var want []uint32
			for i, b := 0, []byte(text); i < len(b); {
				end := enc.pattern.next(b, i)
				want = append(want, heapMerge(dumb.ranks, b[i:end])...)
				i = end
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: ids of %.10q… differ from the twin's", enc.Name(), text)
			}
		}
	}
}

// TestScanAndSearchAgree holds the two ways to merge against each other on either side of the length that chooses.
func TestScanAndSearchAgree(t *testing.T) {
	for _, enc := range everyEncoding(t)[:2] {
		s := enc.scratch()
		rapid.Check(t, func(t *rapid.T) {
			piece := rapid.SliceOfN(rapid.ByteRange(0, 255), 1, scanBytes).Draw(t, "piece")
			if rapid.Bool().Draw(t, "letters") {
				for i := range piece {
					piece[i] = 'a' + piece[i]%20
				}
			}
			if got, want := enc.vocab.search(s, nil, piece), enc.vocab.scan(s, nil, piece); !slices.Equal(got, want) {
				t.Fatalf("%s: search(%q) = %v, scan gives %v", enc.Name(), piece, got, want)
			}
		})
	}
}

func TestEncodingIsSafeForConcurrentUse(t *testing.T) {
	for _, enc := range everyEncoding(t)[:2] {
		var wg sync.WaitGroup
		for _, kind := range textKinds() {
			text := generate(kind, 30_000)
			want := len(enc.Append(nil, text))
			for range 4 {
				wg.Go(func() {
					if n := enc.Count(text); n != want {
						t.Errorf("%s: %s: Count = %d in a goroutine, want %d", enc.Name(), kind, n, want)
					}
				})
			}
		}
		wg.Wait()
	}
}

func TestUnpackRefusesBrokenData(t *testing.T) {
	var body bytes.Buffer
	zr, err := gzip.NewReader(bytes.NewReader(cl100kData))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := body.ReadFrom(zr); err != nil {
		t.Fatal(err)
	}
	zip := func(raw []byte) []byte {
		var out bytes.Buffer
		zw := gzip.NewWriter(&out)
		if _, err := zw.Write(raw); err != nil {
			t.Fatal(err)
		}
		if err := zw.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	edit := func(at int, value byte) []byte {
		raw := bytes.Clone(body.Bytes())
		raw[at] = value
		return zip(raw)
	}
	const header, count = 16, 100_256
	cases := map[string][]byte{
		"nothing":             nil,
		"not gzip":            []byte("PLMBPE1\n"),
		"cut off":             cl100kData[:len(cl100kData)/2],
		"empty":               zip(nil),
		"other magic":         edit(0, 'X'),
		"too many tokens":     edit(10, 0xFF),
		"columns cut off":     zip(body.Bytes()[:body.Len()-1]),
		"shares too much":     edit(header, 9),
		"empty token":         edit(header+count, 0),
		"merge outside token": edit(header+2*count+300, 99),
		"id twice":            edit(header+3*count, body.Bytes()[header+3*count+1]),
		"half unknown":        edit(header+6*count+300, 0x00),
	}
	for name, data := range cases {
		if _, err := unpack(data); err == nil {
			t.Errorf("%s: unpacked, want an error", name)
		}
	}
	binary.LittleEndian.PutUint32(body.Bytes()[8:], 0)
	binary.LittleEndian.PutUint32(body.Bytes()[12:], 0)
	if _, err := unpack(zip(body.Bytes()[:16])); err == nil {
		t.Error("no tokens: unpacked, want an error: every byte must be one")
	}
}
