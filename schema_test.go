package plimsoll_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// TestSetToolsRefusesSchemas: what no provider takes is refused before it is sent with every
// call, with the tool, the place and what is wrong; the tools stay as they were.
func TestSetToolsRefusesSchemas(t *testing.T) {
	tests := []struct{ name, schema, at, want, got string }{
		{"no JSON", `{"type":"object",`, "", "JSON", `"{\"type\":\"object\","`},
		{"a list", `[]`, "", "an object", "[]"},
		{"null", `null`, "", "an object", "null"},
		{"no object", `{"type":"string"}`, "type", `"object"`, `"string"`},
		{"a misspelt type", `{"type":"object","properties":{"path":{"type":"strnig"}}}`, "properties.path.type", "one or several of object, array, string", `"strnig"`},
		{"a type that is no name", `{"properties":{"path":{"type":7}}}`, "properties.path.type", "string", "7"},
		{"a list of arguments", `{"type":"object","properties":["path"]}`, "properties", "schemas by name", `["path"]`},
		{"an argument that is a text", `{"type":"object","properties":{"path":"string"}}`, "properties.path", "a schema", `"string"`},
		{"what is demanded is no list", `{"type":"object","required":true}`, "required", "a list of names", "true"},
		{"deep below", `{"type":"object","properties":{"all":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"text"}]}}}}`, "properties.all.items.anyOf.1.type", "one or several of", `"text"`},
		{"a reference to nothing", `{"$ref":"#/$defs/b","$defs":{"a":{"type":"object"}}}`, "$ref", "an object in the schema", `"#/$defs/b"`},
		{"a reference to no object", `{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`, "$ref", "an object in the schema", `"#/$defs/a"`},
		{"a reference elsewhere", `{"$ref":"https://ship.example/s.json"}`, "$ref", "an object in the schema", `"https://`},
		{"a reference in a circle", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}`, "$ref", "an object in the schema", `"#/$defs/a"`},
		{"alternatives that are none", `{"anyOf":{}}`, "anyOf", "a list of schemas", "{}"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, plimsoll.Options{WithoutTools: true})
			if err := s.SetTools(t.Context(), []llm.Tool{{Name: "read"}}); err != nil {
				t.Fatal(err)
			}
			err := s.SetTools(t.Context(), []llm.Tool{{Name: "write"}, {Name: "moor", Schema: test.schema}})
			fault, ok := errors.AsType[*plimsoll.SchemaError](err)
			if !ok || fault.Tool != "moor" || fault.At != test.at || !strings.Contains(fault.Want, test.want) || !strings.HasPrefix(fault.Got, test.got) {
				t.Fatalf("error, want tool moor at %q, want %s, got %s; got %v", test.at, test.want, test.got, err)
			}
			add(t, s, human("go"))
			if tools := prepare(t, s).Request().Tools; len(tools) != 1 || tools[0].Name != "read" {
				t.Errorf("tools, want those set before, got %+v", tools)
			}
		})
	}
	for _, schema := range []string{
		``, `{}`, `{"type":"object"}`, `{"type":["object","null"]}`, `{"type":"OBJECT","properties":{"path":{"type":"STRING","nullable":true}}}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","additionalProperties":false,"properties":{"type":{"type":"string"},"any":true}}}}`,
		`{"type":"object","properties":{"pair":{"type":"array","items":[{"type":"string"},{"type":["integer","null"]}]}},"required":["pair"],"x-own":"string"}`,
	} {
		s := open(t, plimsoll.Options{WithoutTools: true})
		if err := s.SetTools(t.Context(), []llm.Tool{{Name: "moor", Schema: schema}}); err != nil {
			t.Errorf("%s, want it taken, got %v", schema, err)
		}
	}
	if err := open(t, plimsoll.Options{}).SetTools(t.Context(), []llm.Tool{{Name: "patch", Custom: true, Schema: "start: /.+/"}}); err != nil {
		t.Errorf("a tool of free text, want its format taken, got %v", err)
	}
}

// TestSetToolsSendsAnObject: a schema that is right as JSON schema and has no plain object at
// its root, as generators write it, is sent as one that providers take.
func TestSetToolsSendsAnObject(t *testing.T) {
	for _, schema := range []string{
		`{"type":["object","null"],"properties":{"path":{"type":"string"}}}`,
		`{"$ref":"#/$defs/Args","$defs":{"Args":{"type":"object","properties":{"path":{"type":"string"}}}}}`,
		`{"type":"OBJECT","properties":{"path":{"type":"string"}}}`,
	} {
		s := open(t, plimsoll.Options{WithoutTools: true})
		if err := s.SetTools(t.Context(), []llm.Tool{{Name: "moor", Schema: schema}}); err != nil {
			t.Fatal(err)
		}
		add(t, s, human("go"))
		request := prepare(t, s).Request()
		request.Model, request.MaxOutput = "m", 100
		for _, dialect := range []llm.Dialect{"anthropic", "openai-chat", "openai-responses", "ollama"} {
			codec, _ := codecs.For(dialect)
			body, err := codec.EncodeRequest(request)
			if err != nil {
				t.Fatal(err)
			}
			for _, fault := range check.Request(dialect, body) {
				t.Errorf("%s to %s: the provider would refuse it: %s\n%s", schema, dialect, fault, body)
			}
			if !strings.Contains(string(body), `"type":"object"`) || !strings.Contains(string(body), `"properties":{"path":{"type":"string"}}`) {
				t.Errorf("%s to %s, want an object with the argument path, got %s", schema, dialect, body)
			}
		}
	}
}
