package sdktest

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// accepted fails the test if a request that an SDK wrote breaks a rule of its provider, if
// the codec does not give it back byte for byte, or if its newest reply of the model does
// not say what parts say.
func accepted(t *testing.T, c codecs.Full, body []byte, parts []llm.Part) {
	t.Helper()
	for _, f := range (check.Options{Model: "test-model-1"}).Request(c.Dialect(), body) {
		t.Errorf("request, want no fault, got %s at %s: %s\n%s", f.Rule, f.Path, f.Message, body)
	}
	r, err := c.DecodeRequest(body)
	if err != nil {
		t.Fatalf("decode request: %v\n%s", err, body)
	}
	again, err := c.EncodeRequest(r)
	if err != nil {
		t.Fatalf("encode request: %v", err)
	}
	if string(again) != string(body) {
		t.Errorf("request encoded, want the same bytes\n%s, got\n%s", body, again)
	}
	var said []llm.Part
	for _, m := range r.Messages {
		if m.Role == llm.RoleAssistant {
			said = append(said, m.Parts...)
		}
	}
	if diff := cmp.Diff(neutral(t, parts), neutral(t, said)); diff != "" {
		t.Errorf("reply in the request, want as said, got (-want +got):\n%s\n%s", diff, body)
	}
}

// neutral returns parts without the bytes that they came with, and pieces of one text as one.
func neutral(t *testing.T, parts []llm.Part) []llm.Part {
	t.Helper()
	out := make([]llm.Part, 0, len(parts))
	for _, p := range parts {
		switch p := p.(type) {
		case llm.Text:
			out = joined(out, llm.Text{Text: p.Text})
		case llm.Thinking:
			out = joined(out, llm.Thinking{Text: p.Text, Signature: p.Signature, Redacted: p.Redacted})
		case llm.ToolCall:
			p.Raw, p.Args = llm.Raw{}, sorted(t, p.Args)
			out = append(out, p)
		default:
			out = append(out, p)
		}
	}
	return out
}

// joined adds p, to the part before it where p goes on with that: streams come in pieces.
func joined(parts []llm.Part, p llm.Part) []llm.Part {
	n := len(parts) - 1
	if n < 0 {
		return append(parts, p)
	}
	switch last := parts[n].(type) {
	case llm.Text:
		if p, ok := p.(llm.Text); ok {
			last.Text += p.Text
			parts[n] = last
			return parts
		}
	case llm.Thinking:
		if p, ok := p.(llm.Thinking); ok && last.Signature == "" {
			last.Text += p.Text
			last.Signature = p.Signature
			parts[n] = last
			return parts
		}
	}
	return append(parts, p)
}

// present fails the test if a reply lacks a field that the SDK declares as required. v is a
// struct of the OpenAI or the Anthropic SDK, whose JSON member tells what was there.
func present(t *testing.T, what string, v any) {
	t.Helper()
	for _, m := range missing(reflect.ValueOf(v), "") {
		if !slices.Contains(optional, m) {
			t.Errorf("%s, want the required field %s, got none", what, m)
		}
	}
}

// optional are fields that the SDKs declare as required, for they may be null, and that the
// providers leave out of replies which do not need them.
var optional = []string{
	"Response.AccessPrograms", "Message.Container", "Message.Diagnostics", "Message.StopDetails", "Usage.InferenceGeo",
	"Usage.Speed", "Usage.OutputTokensDetails", "ToolUseBlock.Caller", "TextBlock.Citations",
}

// missing lists the required fields that v does not have, as Type.Field.
func missing(v reflect.Value, in string) []string {
	var out []string
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			out = append(out, missing(v.Index(i), in)...)
		}
	case reflect.Struct:
		if as := v.MethodByName("AsAny"); as.IsValid() {
			if variant := as.Call(nil)[0]; !variant.IsNil() {
				return missing(variant.Elem(), in)
			}
			return nil
		}
		meta := v.FieldByName("JSON")
		if !meta.IsValid() {
			return nil
		}
		for i := range v.NumField() {
			out = append(out, missingField(v, meta, i)...)
		}
	}
	return out
}

func missingField(v, meta reflect.Value, i int) []string {
	f := v.Type().Field(i)
	field := meta.FieldByName(f.Name)
	if f.Name == "JSON" || !field.IsValid() {
		return nil
	}
	was, ok := field.Interface().(interface{ Raw() string })
	switch {
	case !ok:
		return nil
	case was.Raw() == "" && (f.Tag.Get("api") == "required" || f.Tag.Get("default") != ""):
		return []string{v.Type().Name() + "." + f.Name}
	case was.Raw() == "" || was.Raw() == "null":
		return nil
	}
	return missing(v.Field(i), f.Name)
}

// chunkOf returns how many bytes of a stream to send at once: few, so that letters and
// lines are split, but not so few that a long stream takes seconds.
func chunkOf(stream []byte) int { return max(7, len(stream)/500) }
