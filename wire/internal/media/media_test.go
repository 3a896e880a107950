package media

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

func encoded(t *testing.T, write func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDimensions(t *testing.T) {
	pic := image.NewPaletted(image.Rect(0, 0, 37, 21), color.Palette{color.Black, color.White})
	jpg := encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, pic, nil) })
	// The same picture behind a long application segment, where cameras put previews.
	segment := append([]byte{0xff, 0xe1, 0xff, 0xff}, make([]byte, 0xffff-2)...)
	late := append(append(bytes.Clone(jpg[:2]), segment...), jpg[2:]...)
	tests := []struct {
		name          string
		data          []byte
		width, height int
	}{
		{"png", encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, pic) }), 37, 21},
		{"gif", encoded(t, func(b *bytes.Buffer) error { return gif.Encode(b, pic, nil) }), 37, 21},
		{"jpeg", jpg, 37, 21},
		{"jpeg with a long segment first", late, 37, 21},
		{"webp lossy", []byte("RIFF\x00\x00\x00\x00WEBPVP8 \x00\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\x40\x01\xf0\x40"), 320, 240},
		{"webp lossless", []byte("RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f\x3f\xc1\x3b\x00\x00\x00\x00\x00\x00"), 320, 240},
		{"webp extended", []byte("RIFF\x00\x00\x00\x00WEBPVP8X\x00\x00\x00\x00\x00\x00\x00\x00\x3f\x01\x00\xef\x00\x00"), 320, 240},
		{"webp of another kind", []byte("RIFF\x00\x00\x00\x00WEBPABCD\x00\x00\x00\x00\x00\x00\x00\x00\x3f\x01\x00\xef\x00\x00"), 0, 0},
		{"cut webp", []byte("RIFF\x00\x00\x00\x00WEBPVP8X"), 0, 0},
		{"cut png", []byte("\x89PNG\r\n\x1a\n\x00"), 0, 0},
		{"cut jpeg", jpg[:20], 0, 0},
		{"something else", []byte("%PDF-1.7"), 0, 0},
		{"nothing", nil, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w, h := Dimensions([]byte(base64.StdEncoding.EncodeToString(test.data)))
			if w != test.width || h != test.height {
				t.Errorf("want %dx%d, got %dx%d", test.width, test.height, w, h)
			}
		})
	}
	t.Run("not base64", func(t *testing.T) {
		if w, h := Dimensions([]byte("<svg>")); w != 0 || h != 0 {
			t.Errorf("want nothing, got %dx%d", w, h)
		}
	})
}

func TestRead(t *testing.T) {
	tests := []struct {
		name, block string
		want        Source
	}{
		{"anthropic base64", `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}`, Source{Type: "image/png", Data: []byte("QUJD")}},
		{"escaped base64", `{"type":"image","source":{"type":"base64","media_type":"image\/png","data":"QU\/JD"}}`, Source{Type: "image/png", Data: []byte("QU/JD")}},
		{"anthropic url", `{"type":"image","source":{"type":"url","url":"https://h/i"}}`, Source{Type: AnyImage, URL: "https://h/i"}},
		{"anthropic file", `{"type":"document","source":{"type":"file","file_id":"f1"}}`, Source{File: "f1"}},
		{"anthropic text", `{"type":"document","source":{"type":"text","media_type":"text/plain","data":"hi"}}`, Source{Type: "text/plain", Text: "hi"}},
		{"chat data uri", `{"type":"image_url","image_url":{"url":"data:image/webp;base64,QUJD","detail":"low"}}`, Source{Type: "image/webp", Data: []byte("QUJD"), Detail: "low"}},
		{"chat detail auto", `{"type":"image_url","image_url":{"url":"https://h/i","detail":"auto"}}`, Source{Type: AnyImage, URL: "https://h/i"}},
		{"responses detail", `{"type":"input_image","image_url":"https://h/i","detail":"original"}`, Source{Type: AnyImage, URL: "https://h/i", Detail: "original"}},
		{"gemini resolution", `{"inlineData":{"mimeType":"image/png","data":"QUJD"},"mediaResolution":{"level":"MEDIA_RESOLUTION_MEDIUM"}}`, Source{Type: "image/png", Data: []byte("QUJD"), Detail: "medium"}},
		{"gemini highest resolution", `{"inline_data":{"mime_type":"image/png","data":"QUJD"},"media_resolution":"MEDIA_RESOLUTION_ULTRA_HIGH"}`, Source{Type: "image/png", Data: []byte("QUJD"), Detail: "original"}},
		{"chat url", `{"type":"image_url","image_url":{"url":"https://h/i"}}`, Source{Type: AnyImage, URL: "https://h/i"}},
		{"chat file", `{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,QUJD"}}`, Source{Type: "application/pdf", Data: []byte("QUJD"), Name: "a.pdf"}},
		{"chat audio", `{"type":"input_audio","input_audio":{"data":"QUJD","format":"wav"}}`, Source{Type: "audio/wav", Data: []byte("QUJD")}},
		{"responses image", `{"type":"input_image","image_url":"data:image/png;charset=x;base64,QUJD"}`, Source{Type: "image/png", Data: []byte("QUJD")}},
		{"responses image file", `{"type":"input_image","file_id":"f1"}`, Source{Type: AnyImage, File: "f1"}},
		{"responses file url", `{"type":"input_file","file_url":"https://h/d"}`, Source{URL: "https://h/d"}},
		{"gemini bytes", `{"inlineData":{"mimeType":"image/png","data":"QUJD"},"thoughtSignature":"s"}`, Source{Type: "image/png", Data: []byte("QUJD")}},
		{"gemini bytes, other spelling", `{"inline_data":{"mime_type":"audio/mp3","data":"QUJD"}}`, Source{Type: "audio/mp3", Data: []byte("QUJD")}},
		{"gemini address", `{"fileData":{"mimeType":"video/mp4","fileUri":"https://h/v"}}`, Source{Type: "video/mp4", URL: "https://h/v"}},
		{"gemini file", `{"file_data":{"mime_type":"application/pdf","file_uri":"gs://b/f"}}`, Source{Type: "application/pdf", File: "gs://b/f"}},
		{"ollama png", `"iVBORw0KGgoAAAA="`, Source{Type: "image/png", Data: []byte("iVBORw0KGgoAAAA=")}},
		{"ollama, no known image", `"QUJD"`, Source{Type: AnyImage, Data: []byte("QUJD")}},
		{"ollama data uri", `"data:image/webp;base64,QUJD"`, Source{Type: "image/webp", Data: []byte("QUJD")}},
		{"ollama address", `"https://h/i"`, Source{Type: AnyImage, URL: "https://h/i"}},
		{"unknown", `{"type":"image","source":7}`, Source{Type: AnyImage}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Read([]byte(test.block))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPart(t *testing.T) {
	pic := encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, image.NewGray(image.Rect(0, 0, 8, 4))) })
	data := base64.StdEncoding.EncodeToString(pic)
	block := []byte(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}`)
	want := llm.Media{Type: "image/png", Size: len(data), Width: 8, Height: 4, Raw: llm.Raw{Data: block}}
	if diff := cmp.Diff(want, Part(block)); diff != "" {
		t.Error(diff)
	}
	block = []byte(`{"type":"image_url","image_url":{"url":"https://h/i","detail":"high"}}`)
	want = llm.Media{Type: AnyImage, Detail: "high", Raw: llm.Raw{Data: block}}
	if diff := cmp.Diff(want, Part(block)); diff != "" {
		t.Error(diff)
	}
}

func TestPlaceholderNamesTheKind(t *testing.T) {
	for kind, word := range map[string]string{"image/png": "[image/png ", AnyImage: "[image ", "": "[file ", "audio/wav": "[audio/wav "} {
		if got := Placeholder(llm.Media{Type: kind}); !strings.HasPrefix(got, word) {
			t.Errorf("%q: want %q first, got %q", kind, word, got)
		}
	}
}
