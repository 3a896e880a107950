package ollama

import (
	"errors"
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeShow returns the window in tokens that a reply of /api/show tells: num_ctx of the
// model's parameters where they state it, else the context length that the model was made
// for. A server may run the model with less (it goes by the memory it has, and by
// options.num_ctx of the request). The error says that body is not such a reply or tells
// neither.
func DecodeShow(body []byte) (window int, err error) {
	obj, err := raw.CheckObject(body)
	if err != nil {
		return 0, fmt.Errorf("ollama: decode show: %w", err)
	}
	v := raw.Values(obj, "parameters", "model_info")
	for line := range strings.Lines(raw.Unquote(v[0])) {
		if word := strings.Fields(line); len(word) == 2 && word[0] == "num_ctx" {
			if n, ok := raw.Int([]byte(word[1])); ok && n > 0 {
				return n, nil
			}
		}
	}
	for k, at := range raw.Members(v[1]) {
		if strings.HasSuffix(string(raw.Name(v[1][k.Start:k.End])), ".context_length") {
			if n, ok := raw.Int(raw.Slice(v[1], at)); ok && n > 0 {
				return n, nil
			}
		}
	}
	return 0, errors.New("ollama: decode show: want num_ctx or a context_length, got neither")
}
