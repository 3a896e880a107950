package token_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// What a provider reported for a prompt with one image is what the image costs by our
// rule, and the words around it.
func TestRecordedImages(t *testing.T) {
	root := os.Getenv("PLIMSOLL_CORPUS")
	if root == "" {
		fmt.Println("PLIMSOLL_CORPUS is not set: recorded images are not tested")
		t.Skip("PLIMSOLL_CORPUS is not set")
	}
	tests := []struct {
		file, id        string
		reported        int
		fewest, longest int // tokens beside the image: a question; the same, with a tool
	}{
		{"request-bodies-anthropic/simonw-llm-anthropic/test_image_prompt.request.json", "claude:claude-sonnet-4-5", 83, 10, 25},
		{"inspect-ai/UKGovernmentBEIS-inspect_ai/log_images_tc.json", "tiktoken:gpt-4o", 323, 40, 90},
	}
	for _, tt := range tests {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(tt.file)))
		if err != nil {
			t.Fatal(err)
		}
		var body any
		if err := json.Unmarshal(text, &body); err != nil {
			t.Fatal(err)
		}
		m, ok := picture(body)
		if !ok {
			t.Fatalf("%s: no picture", tt.file)
		}
		size := token.SizeOf(counter(t, tt.id), llm.Message{Parts: []llm.Part{m}})
		beside := tt.reported - size.MediaTokens
		t.Logf("%s: %d x %d pixels, %d tokens of %d", tt.id, m.Width, m.Height, size.MediaTokens, tt.reported)
		if beside < tt.fewest || beside > tt.longest {
			t.Errorf("%s: %d tokens beside the image, want %d to %d", tt.id, beside, tt.fewest, tt.longest)
		}
	}
}

// picture returns the first PNG that stands somewhere in v.
func picture(v any) (llm.Media, bool) {
	switch v := v.(type) {
	case string:
		_, data, _ := strings.Cut(v, "iVBORw0KGgo")
		c, err := png.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader("iVBORw0KGgo"+data)))
		return llm.Media{Type: "image/png", Size: len(v), Width: c.Width, Height: c.Height}, err == nil
	case []any:
		for _, e := range v {
			if m, ok := picture(e); ok {
				return m, true
			}
		}
	case map[string]any:
		for _, e := range v {
			if m, ok := picture(e); ok {
				return m, true
			}
		}
	}
	return llm.Media{}, false
}
