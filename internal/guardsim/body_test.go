package guardsim

import (
	"encoding/json"
	"fmt"
	"sort"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A reading is what a request body says to a model, read by code that shares nothing with
// the codecs. What it does not know is an error, so that nothing goes uncounted.
type reading struct {
	texts    []string
	messages int
	calls    int
	results  int
	images   int
	tools    []tool
}

// A tool is a definition of a function.
type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// readBody reads the body of a request in a dialect.
func readBody(d llm.Dialect, body []byte) (reading, error) {
	var r reading
	read := map[llm.Dialect]func([]byte) error{
		"openai-chat": r.chat, "ollama": r.chat, "openai-responses": r.responses, "anthropic": r.anthropic, "gemini": r.gemini,
	}[d]
	if read == nil {
		return r, fmt.Errorf("guardsim: read body: dialect, want a known one, got %q", d)
	}
	if err := read(body); err != nil {
		return r, fmt.Errorf("guardsim: read body: %w", err)
	}
	return r, nil
}

func (r *reading) text(s string) { r.texts = append(r.texts, s) }

func (r *reading) call(name string, args json.RawMessage) {
	r.calls++
	r.text(name)
	var quoted string
	if json.Unmarshal(args, &quoted) == nil { // Chat and Responses: JSON in a string
		r.text(quoted)
		return
	}
	r.text(string(args))
}

// A piece is an element of a content list of any of the dialects that have one.
type piece struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Content json.RawMessage `json:"content"`
}

// content reads a string or a list of pieces.
func (r *reading) content(raw json.RawMessage) error {
	var s string
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if json.Unmarshal(raw, &s) == nil {
		r.text(s)
		return nil
	}
	var pieces []piece
	if err := json.Unmarshal(raw, &pieces); err != nil {
		return err
	}
	for _, p := range pieces {
		switch p.Type {
		case "text", "input_text", "output_text":
			r.text(p.Text)
		case "image", "image_url", "input_image":
			r.images++
		case "tool_use":
			r.call(p.Name, p.Input)
		case "tool_result":
			r.results++
			if err := r.content(p.Content); err != nil {
				return err
			}
		default:
			return fmt.Errorf("content of type %q, want a known one", p.Type)
		}
	}
	return nil
}

// chat reads OpenAI Chat and Ollama.
func (r *reading) chat(body []byte) error {
	var b struct {
		Messages []struct {
			Role      string          `json:"role"`
			Content   json.RawMessage `json:"content"`
			Images    []string        `json:"images"` // of Ollama
			ToolCalls []struct {
				Function struct {
					Name      string          `json:"name"`
					Arguments json.RawMessage `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
		Tools []struct {
			Function tool `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	for _, m := range b.Messages {
		if m.Role == "tool" {
			r.results++
		} else {
			r.messages++
		}
		if err := r.content(m.Content); err != nil {
			return err
		}
		r.images += len(m.Images)
		for _, c := range m.ToolCalls {
			r.call(c.Function.Name, c.Function.Arguments)
		}
	}
	for _, t := range b.Tools {
		r.tools = append(r.tools, t.Function)
	}
	return nil
}

func (r *reading) responses(body []byte) error {
	var b struct {
		Instructions string `json:"instructions"`
		Input        []struct {
			Type      string          `json:"type"`
			Content   json.RawMessage `json:"content"`
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
			Output    json.RawMessage `json:"output"`
		} `json:"input"`
		Tools []tool `json:"tools"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	if b.Instructions != "" {
		r.messages++
		r.text(b.Instructions)
	}
	for _, it := range b.Input {
		var err error
		switch it.Type {
		case "message", "":
			r.messages++
			err = r.content(it.Content)
		case "function_call":
			r.call(it.Name, it.Arguments)
		case "function_call_output":
			r.results++
			err = r.content(it.Output)
		default:
			err = fmt.Errorf("item of type %q, want a known one", it.Type)
		}
		if err != nil {
			return err
		}
	}
	r.tools = b.Tools
	return nil
}

func (r *reading) anthropic(body []byte) error {
	var b struct {
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			tool
			Schema json.RawMessage `json:"input_schema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	if err := r.content(b.System); err != nil {
		return err
	}
	for _, m := range b.Messages {
		r.messages++
		if err := r.content(m.Content); err != nil {
			return err
		}
	}
	for _, t := range b.Tools {
		t.Parameters = t.Schema
		r.tools = append(r.tools, t.tool)
	}
	return nil
}

func (r *reading) gemini(body []byte) error {
	type content struct {
		Parts []struct {
			Text         string    `json:"text"`
			InlineData   *struct{} `json:"inlineData"`
			FunctionCall *struct {
				Name string          `json:"name"`
				Args json.RawMessage `json:"args"`
			} `json:"functionCall"`
			FunctionResponse *struct {
				Name     string `json:"name"`
				Response any    `json:"response"`
			} `json:"functionResponse"`
		} `json:"parts"`
	}
	var b struct {
		System   content   `json:"systemInstruction"`
		Contents []content `json:"contents"`
		Tools    []struct {
			Functions []struct {
				tool
				Schema json.RawMessage `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	for _, c := range append(b.Contents, b.System) {
		r.messages++
		for _, p := range c.Parts {
			r.text(p.Text)
			if p.InlineData != nil {
				r.images++
			}
			if p.FunctionCall != nil {
				r.call(p.FunctionCall.Name, p.FunctionCall.Args)
			}
			if p.FunctionResponse != nil {
				r.results++
				r.text(p.FunctionResponse.Name)
				r.leaves(p.FunctionResponse.Response)
			}
		}
	}
	for _, list := range b.Tools {
		for _, t := range list.Functions {
			if len(t.Parameters) == 0 {
				t.Parameters = t.Schema
			}
			r.tools = append(r.tools, t.tool)
		}
	}
	return nil
}

// leaves reads all keys and texts of a JSON value.
func (r *reading) leaves(v any) {
	switch v := v.(type) {
	case string:
		r.text(v)
	case []any:
		for _, e := range v {
			r.leaves(e)
		}
	case map[string]any:
		for _, key := range sortedKeys(v) {
			r.text(key)
			r.leaves(v[key])
		}
	case nil:
	default:
		r.text(fmt.Sprint(v))
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
