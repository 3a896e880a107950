package recording

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// The dialects that [Exchange.Dialect] tells apart, by the names that the codecs use. Anything else has none: embeddings, files, Bedrock's
// Converse, Google's Interactions, telemetry.
const (
	Anthropic llm.Dialect = "anthropic"
	Chat      llm.Dialect = "openai-chat"
	Responses llm.Dialect = "openai-responses"
	Gemini    llm.Dialect = "gemini"
)

// An Exchange is one recorded call, or as much of it as the recording holds.
type Exchange struct {
	Name     string      // the file, relative to the folder that was read, then # and the place of the call in it, counted from 0
	Dialect  llm.Dialect // empty if it is none of those above
	URL      string      // empty where the recording is of a reply alone
	Path     string      // of the URL, without its query; it tells /count_tokens and /responses/compact from ordinary calls
	Request  []byte      // the body; nil if the recording has none
	Status   int         // of HTTP; 200 or 400 by the reply's shape where the recording does not say
	Response []byte      // the body, decompressed; nil if the recording has none
	Stream   bool        // Response is a stream: server-sent events, or the list that Gemini streams without alt=sse
}

// JSON reports whether the exchange has a reply of a known dialect that was good and not streamed.
func (e Exchange) JSON() bool { return e.good() && !e.Stream }

// Events reports whether the exchange has a reply of a known dialect that was good and streamed.
func (e Exchange) Events() bool { return e.good() && e.Stream }

func (e Exchange) good() bool { return e.Dialect != "" && e.Status == 200 && len(e.Response) > 0 }

// Load reads all recordings of a corpus, in the order of their names. A file that cannot be read is passed over, with a line on standard
// error that names it and says why, so that one broken recording does not keep a codec from all others. Where none can be read that is an
// error.
func Load(dir string) ([]Exchange, error) { return loadAll(dir, os.Stderr) }

// loadAll is Load with where its lines go.
func loadAll(dir string, lines io.Writer) ([]Exchange, error) {
	files, err := list(dir, "http-recordings", "gemini-api")
	if err != nil {
		return nil, err
	}
	var out []Exchange
	var broken []error
	for _, name := range files {
		found, err := load(dir, name)
		if err != nil {
			broken = append(broken, fmt.Errorf("recording: load %s: %w", name, err))
			_, _ = fmt.Fprintf(lines, "recording: passed over %s: %v\n", name, err) // a line that is not printed is no reason to stop
			continue
		}
		for i, e := range found {
			e.Name = fmt.Sprintf("%s#%d", name, i)
			out = append(out, e)
		}
	}
	if len(broken) == len(files) {
		return nil, errors.Join(broken...)
	}
	return out, nil
}

// load reads the calls of one file.
func load(dir, name string) ([]Exchange, error) {
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	switch {
	case strings.HasSuffix(name, ".yaml"):
		return cassette(text)
	case strings.HasSuffix(name, ".json"):
		return export(name, text)
	case strings.HasSuffix(name, ".sse"):
		return []Exchange{{Dialect: guess(name, payload(text)), Status: 200, Response: text, Stream: true}}, nil
	case strings.HasSuffix(name, ".chunks.txt"):
		return chunks(name, text)
	case strings.HasSuffix(name, ".responses"):
		return replies(text)
	}
	return nil, fmt.Errorf("layout, want one of the package comment, got %s", path.Ext(name))
}

// Bodies reads the request bodies of a corpus, in the order of their names. Their layout is that of whoever exported them (indented), their
// content what was sent.
func Bodies(dir string) ([]Exchange, error) {
	folders := map[string]llm.Dialect{
		"request-bodies-anthropic":        Anthropic,
		"request-bodies-gemini":           Gemini,
		"request-bodies-openai-chat":      Chat,
		"request-bodies-openai-responses": Responses,
	}
	files, err := list(dir, "request-bodies-anthropic", "request-bodies-gemini", "request-bodies-openai-chat", "request-bodies-openai-responses")
	if err != nil {
		return nil, err
	}
	var out []Exchange
	for _, name := range files {
		body, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, fmt.Errorf("recording: bodies %s: %w", name, err)
		}
		folder, _, _ := strings.Cut(name, "/")
		out = append(out, Exchange{Name: name, Dialect: folders[folder], Request: body})
	}
	return out, nil
}

// list finds the files below some folders, as slash-separated paths relative to dir, sorted within each folder.
func list(dir string, folders ...string) ([]string, error) {
	var files []string
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(dir, folder), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(dir, name)
			if err != nil {
				return err
			}
			files = append(files, filepath.ToSlash(rel))
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("recording: list %s: %w", folder, err)
		}
	}
	return files, nil
}
