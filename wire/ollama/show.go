package ollama

import (
	"errors"
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// leastWindow is what a server gives a model that states no num_ctx, where it has less
// than 24 GiB of graphics memory: the least that it may be, in tokens.
const leastWindow = 4096

// mostWindow is above every window that a server could give.
const mostWindow = 1<<31 - 1

// DecodeShow returns the window in tokens that a reply of /api/show tells: num_ctx of the
// model's parameters where they state it, else the least that a server gives, which goes by
// its memory, and no more than the model was made for. A running model's real window is in
// /api/ps, see [DecodeRunning]; that of one request may be another, see [AskedWindow]. The
// error says that body is not such a reply or tells neither.
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
				return min(n, leastWindow), nil
			}
		}
	}
	return 0, errors.New("ollama: decode show: want num_ctx or a context_length, got neither")
}

// DecodeRunning returns the window in tokens that a model runs with, from a reply of
// /api/ps. false if the model does not run, or body does not tell.
func DecodeRunning(body []byte, model string) (window int, ok bool) {
	obj, err := raw.CheckObject(body)
	if err != nil {
		return 0, false
	}
	list := raw.Value(obj, "models")
	for _, s := range raw.Elements(list) {
		v := raw.Values(raw.Slice(list, s), "name", "model", "context_length")
		for _, name := range []string{raw.Unquote(v[0]), raw.Unquote(v[1])} {
			if name == model || name == model+":latest" {
				n, ok := raw.Int(v[2])
				return n, ok && n > 0
			}
		}
	}
	return 0, false
}

// AskedWindow returns the window in tokens that the body of a request asks for
// (options.num_ctx), which counts more than what the server would give the model by
// itself. false if it asks for none.
func AskedWindow(body []byte) (window int, ok bool) {
	obj, err := raw.CheckObject(body)
	if err != nil {
		return 0, false
	}
	n, ok := raw.Int(raw.Value(raw.Value(obj, "options"), "num_ctx"))
	return n, ok && n > 0 && n <= mostWindow
}
