package sdktest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"google.golang.org/genai"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	ant "github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	oai "github.com/plimsoll-dev/plimsoll/wire/openai"
)

// A refusal is what an SDK gives of a provider's error, in the same words for all of them.
type refusal struct {
	Status        int
	Type          string
	Code          string
	Param         string
	Message       string
	AfterRetrying bool
}

// An asker makes one call and returns the error that the SDK gave for it.
type asker func(t *testing.T, url string, retries int, stream bool) error

func askAnthropic(_ *testing.T, url string, retries int, stream bool) error {
	client := anthropicClient(url, retries)
	if !stream {
		_, err := client.Messages.New(context.Background(), anthropicParams())
		return err
	}
	s := client.Messages.NewStreaming(context.Background(), anthropicParams())
	for s.Next() {
		continue
	}
	return s.Err()
}

func askChat(_ *testing.T, url string, retries int, stream bool) error {
	client := openaiClient(url, retries)
	if !stream {
		_, err := client.Chat.Completions.New(context.Background(), chatParams())
		return err
	}
	s := client.Chat.Completions.NewStreaming(context.Background(), chatParams())
	for s.Next() {
		continue
	}
	return s.Err()
}

func askResponses(_ *testing.T, url string, retries int, stream bool) error {
	client := openaiClient(url, retries)
	if !stream {
		_, err := client.Responses.New(context.Background(), responsesParams())
		return err
	}
	s := client.Responses.NewStreaming(context.Background(), responsesParams())
	for s.Next() {
		switch e := s.Current(); e.Type {
		case "error": // this SDK hands it on as an event
			return fmt.Errorf("%s: %s", e.Code, e.Message)
		case "response.failed":
			return fmt.Errorf("%s: %s", e.Response.Error.Code, e.Response.Error.Message)
		}
	}
	return s.Err()
}

func askGemini(t *testing.T, url string, retries int, stream bool) error {
	attempts := int32(retries + 1)
	config := &genai.GenerateContentConfig{HTTPOptions: &genai.HTTPOptions{RetryOptions: &genai.HTTPRetryOptions{Attempts: &attempts}}}
	models := geminiClient(t, url).Models
	if !stream {
		_, err := models.GenerateContent(context.Background(), "test-model-1", genai.Text("Go on."), config)
		return err
	}
	for _, err := range models.GenerateContentStream(context.Background(), "test-model-1", genai.Text("Go on."), config) {
		if err != nil {
			return err
		}
	}
	return nil
}

// refusalOf reads the typed error of an SDK.
func refusalOf(t *testing.T, err error) refusal {
	t.Helper()
	var a *anthropic.Error
	var o *openai.Error
	var g genai.APIError
	switch {
	case errors.As(err, &a):
		return refusal{Status: a.StatusCode, Type: string(a.Type()), Message: a.Message}
	case errors.As(err, &o):
		return refusal{Status: o.StatusCode, Type: o.Type, Code: o.Code, Param: o.Param, Message: o.Message}
	case errors.As(err, &g):
		return refusal{Status: g.Code, Type: g.Status, Message: g.Message}
	}
	t.Fatalf("error, want the SDK's own, got %T %v", err, err)
	return refusal{}
}

// A dialectErrors says what an SDK must give for errors of each class that were made from
// nothing but the class and the figures, as those of another dialect are.
type dialectErrors struct {
	codec codecs.Full
	ask   asker
	want  map[wire.Class]refusal
}

const (
	tooLong  = "prompt is too long: 210000 tokens > 200000 maximum"
	openLong = "This model's maximum context length is 200000 tokens. However, your messages resulted in 210000 tokens. Please reduce the length of the messages."
	genLong  = "The input token count (210000) exceeds the maximum number of tokens allowed (200000)."
	other    = "something was wrong"
	invalid  = "invalid_request_error"
)

func everyDialect() map[string]dialectErrors {
	open := map[wire.Class]refusal{
		wire.TooLong:     {Status: 400, Type: invalid, Code: "context_length_exceeded", Message: openLong},
		wire.TooLarge:    {Status: 413, Type: invalid, Code: "request_too_large", Message: other},
		wire.RateLimited: {Status: 429, Type: "rate_limit_error", Code: "rate_limit_exceeded", Message: other},
		wire.Overloaded:  {Status: 503, Type: "server_error", Code: "server_is_overloaded", Message: other},
		wire.Auth:        {Status: 401, Type: invalid, Code: "invalid_api_key", Message: other},
		wire.Billing:     {Status: 429, Type: "insufficient_quota", Code: "insufficient_quota", Message: other},
		wire.NotFound:    {Status: 404, Type: invalid, Code: "model_not_found", Message: other},
		wire.BadRequest:  {Status: 400, Type: invalid, Message: other},
		wire.BadThinking: {Status: 400, Type: invalid, Code: "invalid_encrypted_content", Message: other},
		wire.Timeout:     {Status: 504, Type: "server_error", Code: "timeout", Message: other},
		wire.ServerFault: {Status: 500, Type: "server_error", Code: "server_error", Message: other},
	}
	return map[string]dialectErrors{
		"anthropic": {ant.Codec{}, askAnthropic, map[wire.Class]refusal{
			wire.TooLong:     {Status: 400, Type: invalid, Message: tooLong},
			wire.TooLarge:    {Status: 413, Type: "request_too_large", Message: other},
			wire.RateLimited: {Status: 429, Type: "rate_limit_error", Message: other},
			wire.Overloaded:  {Status: 529, Type: "overloaded_error", Message: other},
			wire.Auth:        {Status: 401, Type: "authentication_error", Message: other},
			wire.Billing:     {Status: 402, Type: "billing_error", Message: other},
			wire.NotFound:    {Status: 404, Type: "not_found_error", Message: other},
			wire.BadRequest:  {Status: 400, Type: invalid, Message: other},
			wire.BadThinking: {Status: 400, Type: invalid, Message: other},
			wire.Timeout:     {Status: 504, Type: "timeout_error", Message: other},
			wire.ServerFault: {Status: 500, Type: "api_error", Message: other},
		}},
		"chat":      {oai.Chat{}, askChat, open},
		"responses": {oai.Responses{}, askResponses, open},
		"gemini": {gemini.Codec{}, askGemini, map[wire.Class]refusal{
			wire.TooLong:     {Status: 400, Type: "INVALID_ARGUMENT", Message: genLong},
			wire.TooLarge:    {Status: 400, Type: "INVALID_ARGUMENT", Message: other},
			wire.RateLimited: {Status: 429, Type: "RESOURCE_EXHAUSTED", Message: other},
			wire.Overloaded:  {Status: 503, Type: "UNAVAILABLE", Message: other},
			wire.Auth:        {Status: 401, Type: "UNAUTHENTICATED", Message: other},
			wire.Billing:     {Status: 429, Type: "RESOURCE_EXHAUSTED", Message: other},
			wire.NotFound:    {Status: 404, Type: "NOT_FOUND", Message: other},
			wire.BadRequest:  {Status: 400, Type: "INVALID_ARGUMENT", Message: other},
			wire.BadThinking: {Status: 400, Type: "INVALID_ARGUMENT", Message: other},
			wire.Timeout:     {Status: 504, Type: "DEADLINE_EXCEEDED", Message: other},
			wire.ServerFault: {Status: 500, Type: "INTERNAL", Message: other},
		}},
	}
}

func TestErrors(t *testing.T) {
	for name, d := range everyDialect() {
		for class, want := range d.want {
			t.Run(name+"/"+class.String(), func(t *testing.T) {
				e := &wire.Error{Class: class, Message: other}
				if class == wire.TooLong {
					e.Message, e.Used, e.Window = tooLong, 210000, 200000
				}
				for _, stream := range []bool{false, true} {
					p := &provider{t: t, codec: d.codec, refusals: []*wire.Error{e}}
					got := refusalOf(t, d.ask(t, p.start(), 0, stream))
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("error (stream %v), want that of the class, got (-want +got):\n%s", stream, diff)
					}
					back := d.codec.DecodeError(want.Status, p.calls()[0].answer)
					if back.Class != class && !alike(name, class, back.Class) {
						t.Errorf("class of the body, want %v, got %v: %s", class, back.Class, back.Body)
					}
				}
			})
		}
	}
}

// alike reports whether a dialect has no way to tell the two classes apart but by words
// that a made-up message does not have.
func alike(dialect string, was, is wire.Class) bool {
	switch {
	case was == wire.BadThinking && is == wire.BadRequest:
		return dialect == "anthropic" || dialect == "gemini"
	case was == wire.TooLarge && is == wire.BadRequest, was == wire.Billing && is == wire.RateLimited:
		return dialect == "gemini"
	}
	return false
}

// TestRetryAfter: the SDKs wait as long as they are told and try again by themselves.
func TestRetryAfter(t *testing.T) {
	for name, d := range everyDialect() {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each waits a second
			s := said{parts: []llm.Part{llm.Text{Text: "Now."}}, stop: llm.StopEnd, usage: llm.Usage{Input: 1, Output: 1}}
			p := &provider{
				t: t, codec: d.codec, reply: s.response(d.codec.Dialect()),
				refusals: []*wire.Error{{Class: wire.RateLimited, Message: other, RetryAfter: time.Second}},
			}
			if err := d.ask(t, p.start(), 1, false); err != nil {
				t.Fatalf("second try, want a reply, got %v", err)
			}
			if got := len(p.calls()); got != 2 {
				t.Errorf("requests, want 2, got %d", got)
			}
		})
	}
}
