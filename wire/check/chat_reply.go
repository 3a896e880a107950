package check

import (
	"maps"
	"slices"
)

// chatReply judges a chat completion.
func chatReply(_ *judge, n node) {
	n.get("id").must().text()
	n.get("object").must().among("value", "chat.completion")
	n.get("created").must().whole()
	n.get("model").must().text()
	chatUsage(n.get("usage"))
	choices := n.get("choices").must()
	list := choices.items()
	if choices.isList() && len(list) == 0 {
		choices.fault("choices-empty", "choices: want at least one, got none")
	}
	for _, c := range list {
		c.get("index").must().whole()
		reason, _ := c.get("finish_reason").must().text()
		m := c.get("message").record()
		m.get("role").must().among("role", "assistant")
		m.get("content").text()
		m.get("refusal").text()
		if !m.states("content") && !m.get("tool_calls").has() {
			m.get("content").must()
		}
		calls := m.get("tool_calls").items()
		for _, call := range calls {
			chatReplyCall(call)
		}
		if reason == "tool_calls" && len(calls) == 0 {
			c.fault("stop-call", "%s: want tool_calls for the finish_reason tool_calls, got none", c.at)
		}
	}
}

// chatReplyCall judges a whole call. Its arguments are the model's own words, which need not be JSON.
func chatReplyCall(call node) {
	call.get("id").must().text()
	kind, _ := call.get("type").must().text()
	f := call.get(kind)
	switch kind {
	case "function":
		f.record().get("name").must().text()
		f.get("arguments").must().text()
	case "custom":
		f.record().get("name").must().text()
		f.get("input").must().text()
	}
}

func chatUsage(u node) {
	u.object()
	u.get("prompt_tokens").must().whole()
	u.get("completion_tokens").must().whole()
	u.get("total_tokens").whole()
}

// A chatChoice is what the chunks so far have told of one choice.
type chatChoice struct {
	started  bool
	finished bool
	calls    map[int64]bool
}

// chatStream judges a streamed chat completion.
func chatStream(j *judge, stream []byte) {
	choices := map[int64]*chatChoice{}
	done, failed := false, false
	for i, f := range frames(j, stream) {
		at := j.voice.index("chunks", i)
		if done {
			j.add("stream-end", at, "%s: want nothing after [DONE], got more", at)
			return
		}
		if f.data == "[DONE]" {
			done = true
			continue
		}
		n, ok := j.parse(at, []byte(f.data))
		if !ok {
			return
		}
		if n.get("error").has() {
			failed = true
			continue
		}
		chatChunk(n, choices)
	}
	if failed {
		return
	}
	if !done {
		j.add("stream-end", "", "stream: want [DONE] at the end, got none")
	}
	if len(choices) == 0 {
		j.add("choices-empty", "", "stream: want at least one choice, got none")
	}
	for _, i := range slices.Sorted(maps.Keys(choices)) {
		if !choices[i].finished {
			j.add("stream-order", "", "stream: want a finish_reason for choice %d, got none", i)
		}
	}
}

// chatChunk judges one chunk by those before it.
func chatChunk(n node, choices map[int64]*chatChoice) {
	n.get("id").must().text()
	n.get("object").must().among("value", "chat.completion.chunk")
	n.get("created").must().whole()
	n.get("model").must().text()
	chatUsage(n.get("usage"))
	for _, c := range n.get("choices").must().items() {
		index, ok := c.get("index").must().whole()
		if !ok {
			continue
		}
		if choices[index] == nil {
			choices[index] = &chatChoice{calls: map[int64]bool{}}
		}
		chatDelta(c, choices[index])
	}
}

func chatDelta(c node, so *chatChoice) {
	d := c.get("delta").record()
	if !so.started {
		d.get("role").must()
		so.started = true
	}
	d.get("role").among("role", "assistant")
	text, _ := d.get("content").text()
	for _, call := range d.get("tool_calls").items() {
		chatFragment(call, so)
	}
	if so.finished && (text != "" || d.get("tool_calls").has()) {
		c.fault("stream-order", "%s: want nothing after the finish_reason, got more of the reply", c.at)
	}
	reason, _ := c.get("finish_reason").text()
	if reason == "" {
		return
	}
	if so.finished {
		c.fault("stream-order", "%s: want one finish_reason, got another", c.at)
	}
	so.finished = true
	if reason == "tool_calls" && len(so.calls) == 0 {
		c.fault("stop-call", "%s: want tool_calls for the finish_reason tool_calls, got none", c.at)
	}
}

// chatFragment judges a piece of a call: the first has the id and the name, further ones the index alone.
func chatFragment(call node, so *chatChoice) {
	index, ok := call.get("index").must().whole()
	if !ok {
		return
	}
	if !so.calls[index] {
		if call.get("type").say() == "custom" {
			call.get("custom").record().get("name").must().text()
		} else {
			call.get("function").record().get("name").must().text()
		}
		call.get("id").must().text()
		so.calls[index] = true
	}
	call.get("function").get("arguments").text()
}
