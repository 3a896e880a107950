package convert_test

import (
	"cmp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// fitFor brings a body into another dialect as its provider and the model that the body
// names take it. It returns the new body, the fit and the lines.
func fitFor(t *testing.T, from, to llm.Dialect, body string) (string, convert.Fit, []string) {
	t.Helper()
	all, err := catalog.LoadRefusals()
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	source, _ := codecs.For(from)
	target, _ := codecs.For(to)
	r := decode(t, source, []byte(body))
	r.Model = cmp.Or(r.Model, "m") // Gemini's bodies name none
	m, ok := c.Lookup(r.Model)
	if !ok {
		m.ID = r.Model
	}
	fit := convert.Request(r, codectest.Known(t, to), convert.Options{Refused: all.Of(to, m)})
	out, err := target.EncodeRequest(fit.Request)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range check.Request(to, out) {
		t.Errorf("body, want one that keeps the rules, got %s: %s\n%s", f.Rule, f, out)
	}
	lines := []string{}
	for _, l := range fit.Losses {
		lines = append(lines, l.String())
	}
	return string(out), fit, lines
}

// A ship, two pixels of one, in base64: as PNG, and as a JPEG's beginning.
const (
	shipPNG  = "iVBORw0KGgo="
	shipJPEG = "/9j/4AAQ"
)

// TestRefused: what the provider would answer with a 400 is mended, and each such thing is
// a line.
func TestRefused(t *testing.T) {
	chat := func(model, members string) string {
		return `{"model":"` + model + `",` + members + `"max_completion_tokens":9,"messages":[{"role":"user","content":"sail"}]}`
	}
	tool := func(schema string) string {
		return `"tools":[{"type":"function","function":{"name":"moor","parameters":` + schema + `}}],`
	}
	image := func(kind, data string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:` + kind + `;base64,` + data + `"}}]}]}`
	}
	spoken := func(content string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"sail"},{"role":"assistant","content":` + content + `}]}`
	}
	const refLine = "schema moor sent without $ref at its root, which the provider refuses"
	const spaceLine = "prefill sent without the white space at its end, which the provider refuses"
	const both = `"temperature":0.3,"top_p":0.8,`
	tests := []struct {
		name     string
		from, to llm.Dialect
		body     string
		lines    []string
		has, not string // of the new body
	}{
		{"one of two settings", "openai-chat", "anthropic", chat("claude-opus-4-1", both), []string{"top_p 0.8 left out: the model takes it or temperature, not both"}, `"temperature":0.3`, "top_p"},
		{"one of them alone", "openai-chat", "anthropic", chat("claude-opus-4-1", `"top_p":0.8,`), []string{}, `"top_p":0.8`, "temperature"},
		{"no setting", "openai-chat", "anthropic", chat("claude-opus-4-7", both), []string{"temperature 0.3 left out: the model refuses it", "top_p 0.8 left out: the model refuses it"}, `"max_tokens":9`, "t_p"},
		{"a later model under a gateway's name", "openai-chat", "anthropic", chat("anthropic/claude-opus-4.8", both), []string{"temperature 0.3 left out: the model refuses it", "top_p 0.8 left out: the model refuses it"}, `"max_tokens":9`, "temperature"},
		{"what holds anyhow is no loss", "openai-chat", "anthropic", chat("claude-opus-4-8", `"temperature":1,`), []string{}, `"max_tokens":9`, "temperature"},
		{"an older model", "openai-chat", "anthropic", chat("claude-opus-4", both), []string{}, `"temperature":0.3,"top_p":0.8`, "none"},
		{"a model that thinks", "anthropic", "openai-chat", `{"model":"gpt-5","max_tokens":9,"temperature":0.3,"stop_sequences":["X"],"messages":[{"role":"user","content":"sail"}]}`, []string{"temperature 0.3 left out: the model refuses it", `stop sequence "X" left out: the model refuses it`}, `"max_completion_tokens":9`, "stop"},
		{"its sister that does not", "anthropic", "openai-chat", `{"model":"gpt-5-chat-latest","max_tokens":9,"temperature":0.3,"messages":[{"role":"user","content":"sail"}]}`, []string{}, `"temperature":0.3`, "none"},
		{"a forced tool", "openai-chat", "anthropic", chat("claude-opus-5-5", tool(`{"type":"object"}`)+`"tool_choice":"required",`), []string{"tool choice left out: the model refuses it"}, `"name":"moor"`, "tool_choice"},
		{"alternatives at the root", "openai-chat", "anthropic", chat("m", tool(`{"description":"d","oneOf":[{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"string"}},"required":["n","a"]},{"$ref":"#/$defs/b"}],"$defs":{"b":{"properties":{"b":{"type":"integer"},"n":{"type":"integer"}},"required":["n"]}}}`)), []string{"schema moor sent without oneOf at its root, which the provider refuses"}, `"properties":{"a":{"type":"string"},"n":{"anyOf":[{"type":"string"},{"type":"integer"}]},"b":{"type":"integer"}},"required":["n"]`, "oneOf"},
		{"all at the root", "anthropic", "openai-responses", `{"model":"m","max_tokens":9,"tools":[{"name":"moor","input_schema":{"type":"object","properties":{"a":{}},"required":["a"],"allOf":[{"properties":{"b":{}},"required":["b"]}],"not":{"required":["c"]}}}],"messages":[{"role":"user","content":"sail"}]}`, []string{"schema moor sent without allOf at its root, which the provider refuses", "schema moor sent without not at its root, which the provider refuses"}, `"properties":{"a":{},"b":{}},"required":["a","b"]`, "allOf"},
		{"a reference at the root", "openai-chat", "anthropic", chat("m", tool(`{"$ref":"#/$defs/a~1b","description":"d","$defs":{"a/b":{"$ref":"#/$defs/c"},"c":{"type":"object","properties":{"a b!":{"$ref":"#/$defs/c"}},"required":["a b!"]}}}`)), []string{refLine, "argument moor.a b! sent as a_b__725e023a3e"}, `"type":"object","properties":{"a_b__725e023a3e":{"$ref":"#/$defs/c"}},"required":["a_b__725e023a3e"]`, `"$ref":"#/$defs/a`},
		{"a reference with arguments beside it", "openai-chat", "openai-responses", chat("m", tool(`{"$ref":"#/definitions/c","properties":{"a":{"type":"string"}},"required":["a"],"definitions":{"c":{"type":["object","null"],"properties":{"a":{},"b":{}},"required":["a","b"]}}}`)), []string{refLine, `schema moor sent as an object at its root: the provider takes no ["object","null"] there`}, `"properties":{"a":{"type":"string"},"b":{}},"required":["a","b"]`, "$ref"},
		{"a reference to nothing", "openai-chat", "ollama", chat("m", tool(`{"$ref":"https://ship.example/s.json"}`)), []string{refLine}, `"parameters":{"type":"object"}`, "$ref"},
		{"a reference in a circle", "openai-chat", "anthropic", chat("m", tool(`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}`)), []string{refLine}, `"type":"object"`, `"input_schema":{"$ref"`},
		{"a reference where it is taken", "openai-chat", "gemini", chat("m", tool(`{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}`)), []string{}, `{"$ref":"#/$defs/a"`, "none"},
		{"nothing or an object", "openai-chat", "anthropic", chat("m", tool(`{"type":["object","null"],"properties":{"a":{}}}`)), []string{`schema moor sent as an object at its root: the provider takes no ["object","null"] there`}, `{"type":"object","properties":{"a":{}}}`, "null"},
		{"no object", "openai-chat", "anthropic", chat("m", tool(`{"type":"string"}`)), []string{`schema moor sent as an object at its root: the provider takes no "string" there`}, `{"type":"object"}`, "string"},
		{"alternatives where they are taken", "openai-chat", "gemini", chat("m", tool(`{"type":"object","anyOf":[{"required":["a"]}],"properties":{"a":{}}}`)), []string{}, `"anyOf":[{"required":["a"]}]`, "none"},
		{"alternatives below the root", "openai-chat", "anthropic", chat("m", tool(`{"type":"object","properties":{"a":{"anyOf":[{},{}]}}}`)), []string{}, `"anyOf"`, "none"},
		{"the name of an argument", "openai-chat", "anthropic", chat("m", tool(`{"type":"object","properties":{"a b!":{"type":"string"},"c":{}},"required":["c","a b!"]}`)), []string{"argument moor.a b! sent as a_b__725e023a3e"}, `"properties":{"a_b__725e023a3e":{"type":"string"},"c":{}},"required":["c","a_b__725e023a3e"]`, "a b!"},
		{"the name of an argument where any is taken", "openai-chat", "openai-responses", chat("m", tool(`{"type":"object","properties":{"a b!":{}}}`)), []string{}, `"a b!"`, "none"},
		{"a misspelt type", "openai-chat", "anthropic", image("image/jpg", shipJPEG), []string{"messages[0].parts[0]: image image/jpg sent as image/jpeg"}, `"media_type":"image/jpeg"`, "image/jpg"},
		{"a type that is not that of the bytes", "openai-chat", "anthropic", image("image/jpeg", shipPNG), []string{"messages[0].parts[0]: image image/jpeg sent as image/png"}, `"media_type":"image/png"`, "jpeg"},
		{"the same where nobody looks", "openai-chat", "openai-responses", image("image/jpeg", shipPNG), []string{}, `data:image/jpeg;base64,`, "png;"},
		{"a type that is not taken", "openai-chat", "anthropic", image("image/tiff", "SUkqAA=="), []string{"messages[0].parts[0]: image image/tiff left out: the provider takes image/gif, image/jpeg, image/png, image/webp"}, `[image/tiff left out`, "SUkq"},
		{"a film for Gemini", "openai-chat", "gemini", image("image/gif", "R0lGODlh"), []string{"messages[0].parts[0]: image image/gif left out: the provider takes image/heic, image/heif, image/jpeg, image/png, image/webp"}, `[image/gif left out`, "R0lG"},
		{"stop sequences of white space", "openai-chat", "anthropic", chat("m", `"stop":["\n","END"," "],`), []string{`stop sequence "\n" left out: the provider refuses white space alone`, `stop sequence " " left out: the provider refuses white space alone`}, `"stop_sequences":["END"]`, `\n`},
		{"the same where they are taken", "anthropic", "openai-chat", `{"model":"m","max_tokens":9,"stop_sequences":["\n","END"],"messages":[{"role":"user","content":"sail"}]}`, []string{}, `"stop":["\n","END"]`, "none"},
		{"a prefill that ends with a space", "openai-chat", "anthropic", spoken(`"Aye, "`), []string{spaceLine}, `"text":"Aye,"}]}]`, "Aye, "},
		{"a prefill of a space alone", "openai-chat", "anthropic", spoken(`[{"type":"text","text":"Aye,"},{"type":"text","text":" \n"}]`), []string{spaceLine}, `"text":"Aye,"}]}]`, `\n`},
		{"a message of a space alone", "openai-chat", "anthropic", spoken(`" "`), []string{spaceLine}, `"text":"sail"}]}]`, "assistant"},
		{"a prefill that ends with a word", "openai-chat", "anthropic", spoken(`"Aye,"`), []string{}, `"text":"Aye,"}]}]`, "none"},
		{"a tool that begins with a digit", "openai-chat", "gemini", chat("m", `"tools":[{"type":"function","function":{"name":"3d-plan","parameters":{"type":"object"}}}],`), []string{"tool 3d-plan sent as _3d-plan_91ddc15c34"}, `"name":"_3d-plan_91ddc15c34"`, `"3d`},
		{"one with other characters, too", "openai-chat", "gemini", chat("m", `"tools":[{"type":"function","function":{"name":"-plan","parameters":{"type":"object"}}}],`), []string{"tool -plan sent as _-plan_75ce297129"}, `"name":"_-plan`, `"-p`},
		{"names and ids", "gemini", "openai-chat", `{"contents":[{"role":"user","parts":[{"text":"sail"}]},{"role":"model","parts":[{"functionCall":{"id":"a|b","name":"moor.at","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"a|b","name":"moor.at","response":{}}}]}],"tools":[{"functionDeclarations":[{"name":"moor.at"}]}]}`, []string{"tool moor.at sent as moor_at_43aeeeb785", "messages[1].parts[0]: call a|b sent as a_b_0eab8a0a33"}, `"tool_call_id":"a_b_0eab8a0a33"`, "moor.at"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			body, _, lines := fitFor(t, test.from, test.to, test.body)
			if d := gocmp.Diff(test.lines, lines); d != "" {
				t.Errorf("lines (-want +got)\n%s", d)
			}
			if !strings.Contains(body, test.has) || strings.Contains(body, test.not) {
				t.Errorf("body, want %s in it and not %s, got %s", test.has, test.not, body)
			}
		})
	}
}

// TestPrefillRefused: that a model refuses to go on with its own words is said; nothing
// stands for them.
func TestPrefillRefused(t *testing.T) {
	c, _ := codecs.For("openai-chat")
	r := decode(t, c, []byte(`{"model":"m","max_completion_tokens":9,"messages":[{"role":"user","content":"sail"},{"role":"assistant","content":"Aye,"}]}`))
	for refused, want := range map[bool]int{true: 1, false: 0} {
		fit := convert.Request(r, codectest.Known(t, "anthropic"), convert.Options{Refused: catalog.Refused{Prefill: refused}})
		if len(fit.Losses) != want || len(fit.Request.Messages) != 2 {
			t.Errorf("prefill refused %v, want %d lines and both messages, got %v, %d", refused, want, fit.Losses, len(fit.Request.Messages))
		}
		// Gemini takes no such end at all, whatever the model.
		all, err := catalog.LoadRefusals()
		if err != nil {
			t.Fatal(err)
		}
		if fit := convert.Request(r, codectest.Known(t, "gemini"), convert.Options{Refused: all.Of("gemini", catalog.Model{ID: "m"})}); len(fit.Losses) != 1 {
			t.Errorf("to Gemini, want one line, got %v", fit.Losses)
		}
		if refused && fit.Losses[0].String() != "prefill is refused by the model: a conversation has to end with the user" {
			t.Errorf("line, got %s", fit.Losses[0])
		}
	}
}

// TestImagesOfResults: where a result cannot have an image, the image follows behind all
// results of its Round, with a text that says whose it is.
func TestImagesOfResults(t *testing.T) {
	png := func(id, more string) string {
		return `{"type":"function_call_output","call_id":"` + id + `","output":[{"type":"input_text","text":"here"},{"type":"input_image","image_url":"data:image/png;base64,` + shipPNG + `"}]}` + more
	}
	call := func(id string) string {
		return `{"type":"function_call","call_id":"` + id + `","name":"look","arguments":"{}"},`
	}
	body := `{"model":"m","max_output_tokens":9,"tools":[{"type":"function","name":"look","parameters":{"type":"object"}}],"input":[{"role":"user","content":"look"},` +
		call("c1") + call("c2") + png("c1", ",") + png("c2", ",") + `{"role":"assistant","content":"two ships"},` + call("c3") + png("c3", "") + `]}`
	wants := map[llm.Dialect][]string{
		"openai-chat": {
			`"tool_call_id":"c1","content":"here\n[the image follows behind the results]"},{"role":"tool","tool_call_id":"c2","content":"here\n[the image follows behind the results]"},` +
				`{"role":"user","content":[{"type":"text","text":"[image of the result of call c1]"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + shipPNG + `"}},{"type":"text","text":"[image of the result of call c2]"},`,
			`"tool_call_id":"c3","content":"here\n[the image follows behind the results]"},{"role":"user","content":[{"type":"text","text":"[image of the result of call c3]"},{"type":"image_url"`,
		},
		"gemini": {`{"text":"[image of the result of call c3]"},{"inlineData":{"mimeType":"image/png","data":"` + shipPNG + `"}}]}]`},
		"ollama": {`[image of the result of call c3]","images":["` + shipPNG + `"]}]`},
	}
	for to, want := range wants {
		t.Run(string(to), func(t *testing.T) {
			got, _, lines := fitFor(t, "openai-responses", to, body)
			for _, w := range want {
				if !strings.Contains(got, w) {
					t.Errorf("body, want %s in it, got %s", w, got)
				}
			}
			if n := strings.Count(strings.Join(lines, "\n"), "image image/png of a result sent in a message behind the results"); n != 3 {
				t.Errorf("lines, want one for each of 3 images, got %q", lines)
			}
		})
	}
}

// TestAddressBase64: Gemini takes base64 in the alphabet for addresses; everybody else gets
// the standard one.
func TestAddressBase64(t *testing.T) {
	const body = `{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo-_w"}}]}]}`
	for _, to := range []llm.Dialect{"anthropic", "openai-chat", "openai-responses", "ollama"} {
		if got, _, _ := fitFor(t, "gemini", to, body); !strings.Contains(got, "iVBORw0KGgo+/w==") {
			t.Errorf("%s: body, want standard base64, got %s", to, got)
		}
	}
}

// TestBareAddressBase64: so do those who get an image of Ollama's.
func TestBareAddressBase64(t *testing.T) {
	const body = `{"model":"m","options":{"num_predict":9},"messages":[{"role":"user","content":"a","images":["iVBORw0KGgo-_w"]}]}`
	for _, to := range []llm.Dialect{"anthropic", "openai-chat", "openai-responses", "gemini"} {
		if got, _, _ := fitFor(t, "ollama", to, body); !strings.Contains(got, "iVBORw0KGgo+/w==") {
			t.Errorf("%s: body, want standard base64, got %s", to, got)
		}
	}
}

// TestArgumentsComeBack: a reply names arguments as it was told to; the tool gets its own.
func TestArgumentsComeBack(t *testing.T) {
	_, fit, _ := fitFor(t, "openai-chat", "anthropic", `{"model":"m","max_completion_tokens":9,"tools":[{"type":"function","function":{"name":"moor","parameters":{"type":"object","properties":{"a b!":{}}}}}],"messages":[{"role":"user","content":"sail"}]}`)
	reply := llm.Response{Message: llm.Message{Parts: []llm.Part{llm.ToolCall{CallID: "c", Name: "moor", Args: `{"a_b__725e023a3e": {"a_b__725e023a3e":1}, "x":2}`}}}}
	if got := fit.Aliases.Restore(reply).Message.Calls()[0].Args; got != `{"a b!": {"a_b__725e023a3e":1}, "x":2}` {
		t.Errorf("arguments, want the tool's own names, got %s", got)
	}
}

// TestImageAddresses: where a format has no place for an image that is an address, the text
// that stands for it is a line; also in a result, and where the address does not tell the
// media type that the format wants.
func TestImageAddresses(t *testing.T) {
	image := func(url string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"` + url + `"}}]}]}`
	}
	const png, gif, bare = "https://ship.example/a.png", "https://ship.example/a.gif?b=c", "https://ship.example/a"
	result := strings.Replace(`{"model":"m","max_tokens":9,"tools":[{"name":"look","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"look"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"look","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"image","source":{"type":"url","url":"URL"}}]}]}]}`, "URL", png, 1)
	const first, third = "messages[0].parts[0]: image image/* sent in another form", "messages[2].parts[0]: image image/* sent in another form"
	tests := []struct {
		name, body string
		to         llm.Dialect
		lines      []string
		has        string
	}{
		{"to Ollama", image(png), "ollama", []string{first}, "[image left out"},
		{"in a result to Ollama", result, "ollama", []string{third}, "[image left out"},
		{"to Gemini", image(png), "gemini", []string{}, `"fileUri":"` + png},
		{"a film to Gemini", image(gif), "gemini", []string{"messages[0].parts[0]: image image/gif left out: the provider takes image/heic, image/heif, image/jpeg, image/png, image/webp"}, "[image/gif left out"},
		{"a film in a result to Gemini", strings.Replace(result, png, gif, 1), "gemini", []string{"messages[2].parts[0]: image image/gif left out: the provider takes image/heic, image/heif, image/jpeg, image/png, image/webp"}, "[image/gif left out"},
		{"a film to Chat", image(gif), "openai-chat", []string{}, `"url":"` + gif},
		{"without a type to Gemini", image(bare), "gemini", []string{first}, "[image left out"},
		{"without a type to Chat", image(bare), "openai-chat", []string{}, `"url":"` + bare},
		{"without a type to Responses", image(bare), "openai-responses", []string{}, `"image_url":"` + bare},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			body, _, lines := fitFor(t, "anthropic", test.to, test.body)
			if d := gocmp.Diff(test.lines, lines); d != "" {
				t.Errorf("lines (-want +got)\n%s", d)
			}
			if !strings.Contains(body, test.has) {
				t.Errorf("body, want %s in it, got %s", test.has, body)
			}
		})
	}
}

// TestArgumentsEverywhere: another name of an argument stands wherever the schema and the
// calls so far have the name; what lies below the arguments stays.
func TestArgumentsEverywhere(t *testing.T) {
	const fit = "a_b__725e023a3e"
	schema := `{"type":"object","properties":{"a b!":{"type":"object","properties":{"a b!":{}},"required":["a b!"]},"c":{}},"required":["a b!"],"propertyOrdering":["c","a b!"],` +
		`"dependentRequired":{"a b!":["c"],"c":["a b!"]},"dependentSchemas":{"a b!":{"required":["a b!"]}},"if":{"properties":{"a b!":{}}},"then":{"not":{"required":["a b!","c"]}}}`
	body := `{"model":"m","max_completion_tokens":9,"tools":[{"type":"function","function":{"name":"moor","parameters":` + schema + `}},{"type":"function","function":{"name":"sail","parameters":{"type":"object"}}}],` +
		`"messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[` +
		`{"id":"c1","type":"function","function":{"name":"moor","arguments":"{\"a b!\": {\"a b!\":1}, \"c\":2}"}},` +
		`{"id":"c2","type":"function","function":{"name":"sail","arguments":"{\"a b!\":1}"}},` +
		`{"id":"c3","type":"function","function":{"name":"moor","arguments":"{\"a b!\":1,"}}]},` +
		`{"role":"tool","tool_call_id":"c1","content":"1"},{"role":"tool","tool_call_id":"c2","content":"2"},{"role":"tool","tool_call_id":"c3","content":"3"}]}`
	got, _, lines := fitFor(t, "openai-chat", "anthropic", body)
	if len(lines) != 1 || lines[0] != "argument moor.a b! sent as "+fit {
		t.Errorf("lines, want one for the argument, got %q", lines)
	}
	for _, want := range []string{
		`"properties":{"` + fit + `":{"type":"object","properties":{"a b!":{}},"required":["a b!"]},"c":{}},"required":["` + fit + `"],"propertyOrdering":["c","` + fit + `"]`,
		`"dependentRequired":{"` + fit + `":["c"],"c":["` + fit + `"]},"dependentSchemas":{"` + fit + `":{"required":["` + fit + `"]}}`,
		`"if":{"properties":{"` + fit + `":{}}},"then":{"not":{"required":["` + fit + `","c"]}}`,
		`"name":"moor","input":{"` + fit + `": {"a b!":1}, "c":2}`,
		`"name":"sail","input":{"a b!":1}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("body, want %s in it, got %s", want, got)
		}
	}
}

// TestArgumentsFollowReferences: the other name of an argument stands also in what a schema
// refers to for the same object; what it refers to for other things stays, and every reference
// leads where it did.
func TestArgumentsFollowReferences(t *testing.T) {
	const fit = "a_b__725e023a3e"
	tests := []struct {
		name, schema string
		has          []string
	}{
		{
			"a condition",
			`{"type":"object","properties":{"a b!":{},"c":{}},"if":{"required":["c"]},"then":{"$ref":"#/$defs/both"},"$defs":{"both":{"required":["a b!","c"]}}}`,
			[]string{`"then":{"$ref":"#/$defs/both_named"}`, `"both_named":{"required":["` + fit + `","c"]}`},
		},
		{
			"one behind another, in a circle",
			`{"type":"object","properties":{"a b!":{}},"not":{"anyOf":[{"$ref":"#/$defs/x"}]},"$defs":{"x":{"allOf":[{"$ref":"#/$defs/y"}]},"y":{"else":{"$ref":"#/$defs/x"},"required":["a b!"]}}}`,
			[]string{`"not":{"anyOf":[{"$ref":"#/$defs/x_named"}]}`, `"x_named":{"allOf":[{"$ref":"#/$defs/y_named"}]}`, `"y_named":{"else":{"$ref":"#/$defs/x_named"},"required":["` + fit + `"]}`},
		},
		{
			"another object with the same definition",
			`{"type":"object","properties":{"a b!":{},"c":{"type":"array","items":{"$ref":"#/$defs/d"}}},"then":{"$ref":"#/$defs/d"},"$defs":{"d":{"properties":{"a b!":{}},"required":["a b!"]}}}`,
			[]string{`"items":{"$ref":"#/$defs/d"}`, `"then":{"$ref":"#/$defs/d_named"}`, `"d":{"properties":{"a b!":{}},"required":["a b!"]}`, `"d_named":{"properties":{"` + fit + `":{}},"required":["` + fit + `"]}`},
		},
		{
			"the schema in itself",
			`{"type":"object","properties":{"a b!":{"type":"string"},"c":{"items":{"$ref":"#"}}},"required":["a b!"]}`,
			[]string{`"c":{"items":{"$ref":"#/$defs/root"}}},"required":["` + fit + `"]`, `"$defs":{"root":{"type":"object","properties":{"a b!":{"type":"string"},"c":{"items":{"$ref":"#/$defs/root"}}},"required":["a b!"]}}`},
		},
		{
			"an argument that another one refers to",
			`{"type":"object","properties":{"a b!":{"items":{"type":"string"}},"c":{"$ref":"#/properties/a b!/items"}}}`,
			[]string{`"c":{"$ref":"#/properties/` + fit + `/items"}`},
		},
		{
			"a definition without the name",
			`{"type":"object","properties":{"a b!":{},"c":{}},"then":{"$ref":"#/$defs/d"},"$defs":{"d":{"required":["c"]}}}`,
			[]string{`"then":{"$ref":"#/$defs/d"},"$defs":{"d":{"required":["c"]}}`},
		},
		{
			"data that look like a reference",
			`{"type":"object","properties":{"a b!":{},"c":{"const":{"$ref":"#"}}}}`,
			[]string{`"c":{"const":{"$ref":"#"}}`},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			body := `{"model":"m","max_completion_tokens":9,"tools":[{"type":"function","function":{"name":"moor","parameters":` + test.schema + `}}],"messages":[{"role":"user","content":"go"}]}`
			got, _, lines := fitFor(t, "openai-chat", "anthropic", body)
			if len(lines) != 1 || lines[0] != "argument moor.a b! sent as "+fit {
				t.Errorf("lines, want one for the argument, got %q", lines)
			}
			for _, want := range test.has {
				if !strings.Contains(got, want) {
					t.Errorf("body, want %s in it, got %s", want, got)
				}
			}
		})
	}
}
