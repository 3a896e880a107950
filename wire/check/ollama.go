package check

import (
	"bytes"
)

// ollamaRequest judges a request of Ollama's chat.
func ollamaRequest(_ *judge, n node) {
	n.get("model").must().text()
	n.get("stream").yes()
	for _, m := range n.get("messages").items() {
		ollamaMessage(m)
	}
	n.get("options").object()
	for _, t := range n.get("tools").items() {
		f := t.get("function").record()
		f.get("name").must().text()
		f.get("description").text()
		f.get("parameters").object()
	}
}

// ollamaMessage judges a message of a request or a reply.
func ollamaMessage(m node) {
	role, ok := m.get("role").must().text()
	switch role {
	case "system", "user", "assistant", "tool":
	default:
		if ok {
			m.get("role").fault("role", "invalid role: %s", role)
		}
	}
	m.get("content").text()
	m.get("thinking").text()
	m.get("tool_name").text()
	m.get("tool_call_id").text()
	for _, image := range m.get("images").list() {
		image.inBase64(false)
	}
	for _, c := range m.get("tool_calls").items() {
		f := c.get("function").record()
		f.get("name").must().text()
		f.get("arguments").record()
	}
}

// ollamaLine judges one object of a reply: the whole of it, or one line of a stream.
func ollamaLine(_ *judge, n node, last bool) {
	n.get("model").must().text()
	n.get("created_at").must().text()
	done := n.get("done").must().yes()
	m := n.get("message").record()
	ollamaMessage(m)
	if role := m.get("role"); role.say() == "user" || role.say() == "system" || role.say() == "tool" {
		role.fault("role", "%s: want assistant in a reply, got %s", role.at, role.say())
	}
	if last && !done {
		n.fault("stream-end", "%s: want done to be true at the end, got false", orReply(n.at))
	}
	n.get("done_reason").text()
	n.get("prompt_eval_count").whole()
	n.get("eval_count").whole()
}

// ollamaStream judges a streamed reply: one object a line.
func ollamaStream(j *judge, stream []byte) {
	done, i := false, 0
	for line := range bytes.Lines(stream) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		at := j.voice.index("lines", i)
		i++
		n, ok := j.parse(at, line)
		if !ok {
			return
		}
		if done {
			n.fault("stream-end", "%s: want nothing after the line that is done, got more", at)
			return
		}
		if n.get("error").has() {
			return
		}
		ollamaLine(j, n, false)
		done = n.get("done").v == true
	}
	if !done {
		j.add("stream-end", "", "stream: want a line that is done at the end, got none")
	}
}
