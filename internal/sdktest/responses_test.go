package sdktest

import (
	"context"
	"encoding/json"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

func responsesParams(items ...responses.ResponseInputItemUnionParam) responses.ResponseNewParams {
	user := responses.ResponseInputItemParamOfMessage("Go on.", responses.EasyInputMessageRoleUser)
	return responses.ResponseNewParams{
		Model: "test-model-1", Store: sdk.Bool(false),
		Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
		Input:   responses.ResponseNewParamsInputUnion{OfInputItemList: append(responses.ResponseInputParam{user}, items...)},
	}
}

// responsesHeard reads a response as a program would.
func responsesHeard(t *testing.T, r *responses.Response) heard {
	t.Helper()
	u := r.Usage
	in := u.InputTokensDetails
	h := heard{
		ID: r.ID, Model: r.Model, Stop: string(r.Status), JSON: r.RawJSON(),
		Usage: llm.Usage{
			Input: int(u.InputTokens - in.CachedTokens - in.CacheWriteTokens), CacheRead: int(in.CachedTokens),
			CacheWrite5m: int(in.CacheWriteTokens), Output: int(u.OutputTokens), Reasoning: int(u.OutputTokensDetails.ReasoningTokens),
		},
	}
	if why := r.IncompleteDetails.Reason; why != "" {
		h.Stop += ": " + why
	}
	if u.TotalTokens != u.InputTokens+u.OutputTokens {
		t.Errorf("total_tokens, want %d + %d, got %d", u.InputTokens, u.OutputTokens, u.TotalTokens)
	}
	for _, item := range r.Output {
		h.addItem(t, item)
	}
	if h.Text != r.OutputText() {
		t.Errorf("OutputText, want %q, got %q", h.Text, r.OutputText())
	}
	return h
}

func (h *heard) addItem(t *testing.T, item responses.ResponseOutputItemUnion) {
	t.Helper()
	switch item := item.AsAny().(type) {
	case responses.ResponseOutputMessage:
		for _, c := range item.Content {
			h.Text += c.Text
		}
	case responses.ResponseReasoningItem:
		var text string
		for _, s := range item.Summary {
			text += s.Text
		}
		h.Thoughts = append(h.Thoughts, thought{text, item.EncryptedContent})
	case responses.ResponseFunctionToolCall:
		h.Calls = append(h.Calls, spoken{item.CallID, item.Name, sorted(t, item.Arguments)})
	case responses.ResponseCustomToolCall:
		h.Calls = append(h.Calls, spoken{item.CallID, item.Name, item.Input})
	default:
		t.Errorf("item, want one that was said, got %+v", item)
	}
}

func responsesAsk(t *testing.T, url string) *responses.Response {
	t.Helper()
	client := openaiClient(url, 0)
	r, err := client.Responses.New(context.Background(), responsesParams())
	if err != nil {
		t.Fatalf("new: %v", err)
	}
	return r
}

// A responsesStreamed is a stream in the three ways in which programs read one.
type responsesStreamed struct {
	last     *responses.Response // of the event that ends the stream
	gathered *responses.Response // by the SDK, from the events
	deltas   heard               // text, reasoning and arguments as they came
}

func responsesStream(t *testing.T, url string) responsesStreamed {
	t.Helper()
	client := openaiClient(url, 0)
	return responsesGather(t, client.Responses.NewStreaming(context.Background(), responsesParams()))
}

func responsesGather(t *testing.T, stream *ssestream.Stream[responses.ResponseStreamEventUnion]) responsesStreamed {
	t.Helper()
	var s responsesStreamed
	var a responses.ResponseAccumulator
	next := int64(0)
	for stream.Next() {
		e := stream.Current()
		if e.SequenceNumber != next {
			t.Errorf("sequence_number of %s, want %d, got %d", e.Type, next, e.SequenceNumber)
		}
		next++
		s.add(t, e)
		var sent responses.ResponsesServerEventUnion
		if err := json.Unmarshal([]byte(e.RawJSON()), &sent); err != nil {
			t.Fatalf("event: %v\n%s", err, e.RawJSON())
		}
		if err := a.AddEvent(sent); err != nil {
			t.Fatalf("accumulate: %v\n%s", err, e.RawJSON())
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatalf("stream: %v", err)
	}
	var err error
	if s.gathered, err = a.ReconstructedResponse(); err != nil {
		t.Fatalf("accumulated: %v", err)
	}
	return s
}

func (s *responsesStreamed) add(t *testing.T, e responses.ResponseStreamEventUnion) {
	t.Helper()
	switch e := e.AsAny().(type) {
	case nil:
		t.Errorf("event, want one that the SDK knows, got %+v", e)
	case responses.ResponseTextDeltaEvent:
		s.deltas.Text += e.Delta
	case responses.ResponseReasoningSummaryTextDeltaEvent:
		n := len(s.deltas.Thoughts) - 1
		s.deltas.Thoughts[n].Text += e.Delta
	case responses.ResponseOutputItemAddedEvent:
		switch item := e.Item.AsAny().(type) {
		case responses.ResponseReasoningItem:
			s.deltas.Thoughts = append(s.deltas.Thoughts, thought{})
		case responses.ResponseFunctionToolCall:
			s.deltas.Calls = append(s.deltas.Calls, spoken{item.CallID, item.Name, item.Arguments})
		}
	case responses.ResponseFunctionCallArgumentsDeltaEvent:
		n := len(s.deltas.Calls) - 1
		s.deltas.Calls[n].Args += e.Delta
	case responses.ResponseCompletedEvent:
		s.last = &e.Response
	case responses.ResponseIncompleteEvent:
		s.last = &e.Response
	}
	if e.Type == "response.failed" || e.Type == "error" {
		t.Errorf("event, want none of an error, got %s", e.RawJSON())
	}
}

var responsesStops = map[llm.Stop]string{
	llm.StopEnd: "completed", llm.StopTool: "completed", llm.StopLength: "incomplete: max_output_tokens",
	llm.StopRefusal: "incomplete: content_filter",
}

func responsesCases() []said {
	cases := append(replies(), thinking(func(s string) string { return "gAAA" + s })...)
	return append(cases,
		said{"hidden reasoning", []llm.Part{
			llm.Thinking{Signature: "gAAAhidden", Redacted: true},
			llm.Text{Text: "Done."},
		}, llm.StopEnd, llm.Usage{Input: 10, Output: 5}})
}

func TestResponses(t *testing.T) {
	for _, c := range responsesCases() {
		t.Run(c.name, func(t *testing.T) {
			p := &provider{t: t, codec: openai.Responses{}, reply: c.response(openai.DialectResponses)}
			url := p.start()
			want := c.expected(t, responsesStops[c.stop])
			whole := responsesAsk(t, url)
			same(t, "whole", want, responsesHeard(t, whole))
			present(t, "whole", *whole)
			p.chunk = chunkOf(p.streamed())
			s := responsesStream(t, url)
			if s.last == nil {
				t.Fatal("stream, want a response at its end, got none")
			}
			same(t, "last event", want, responsesHeard(t, s.last))
			same(t, "accumulated", want, responsesHeard(t, s.gathered))
			if a, b := sorted(t, whole.RawJSON()), sorted(t, s.last.RawJSON()); a != b {
				t.Errorf("response of the last event, want the whole reply\n%s, got\n%s", a, b)
			}
			same(t, "deltas", spokenOnly(want), spokenOnly(s.deltas))
		})
	}
}

// spokenOnly returns h without what only the whole reply tells.
func spokenOnly(h heard) heard {
	out := heard{Text: h.Text}
	for _, th := range h.Thoughts {
		out.Thoughts = append(out.Thoughts, thought{Text: th.Text})
	}
	for _, c := range h.Calls {
		var args any
		if json.Unmarshal([]byte(c.Args), &args) == nil {
			if b, err := json.Marshal(args); err == nil {
				c.Args = string(b)
			}
		}
		out.Calls = append(out.Calls, c)
	}
	return out
}

func TestResponsesSecondTurn(t *testing.T) {
	for _, c := range responsesCases() {
		if c.parts == nil {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			p := &provider{t: t, codec: openai.Responses{}, reply: c.response(openai.DialectResponses)}
			url := p.start()
			for _, r := range []*responses.Response{responsesAsk(t, url), responsesStream(t, url).last} {
				accepted(t, p.codec, marshal(t, responsesParams(responsesBack(t, r)...)), c.parts)
			}
		})
	}
}

// responsesBack returns the items of r as the SDK sends them back, with an answer.
func responsesBack(t *testing.T, r *responses.Response) []responses.ResponseInputItemUnionParam {
	t.Helper()
	var items, answers []responses.ResponseInputItemUnionParam
	for _, item := range r.Output {
		switch item := item.AsAny().(type) {
		case responses.ResponseOutputMessage:
			p := item.ToParam()
			items = append(items, responses.ResponseInputItemUnionParam{OfOutputMessage: &p})
		case responses.ResponseReasoningItem:
			p := item.ToParam()
			items = append(items, responses.ResponseInputItemUnionParam{OfReasoning: &p})
		case responses.ResponseFunctionToolCall:
			p := item.ToParam()
			items = append(items, responses.ResponseInputItemUnionParam{OfFunctionCall: &p})
			out := responses.ResponseInputItemFunctionCallOutputParam{CallID: param.NewOpt(item.CallID)}
			out.Output.OfString = sdk.String(resultOf(item.Name))
			answers = append(answers, responses.ResponseInputItemUnionParam{OfFunctionCallOutput: &out})
		default:
			t.Errorf("item, want one that was said, got %+v", item)
		}
	}
	if answers == nil {
		answers = append(answers, responses.ResponseInputItemParamOfMessage("And then?", responses.EasyInputMessageRoleUser))
	}
	return append(items, answers...)
}
