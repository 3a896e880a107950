package check

import "bytes"

// A geminiReading is how far a reply has been read.
type geminiReading struct {
	finished bool // a candidate has ended
	open     bool // a call goes on in the next chunk (Vertex, streamed arguments)
}

// geminiReply judges a GenerateContentResponse.
func geminiReply(_ *judge, n node) {
	var r geminiReading
	r.chunk(n)
	if !r.finished && !blocked(n) {
		n.fault("stop-missing", "response: want a finishReason or a promptFeedback.blockReason, got neither")
	}
}

// orReply names a place, and the whole reply where there is none.
func orReply(at string) string {
	if at == "" {
		return "response"
	}
	return at
}

// inner returns the response in the envelope of the Code Assist server.
func inner(n node) node {
	if r := n.get("response"); r.has() && r.object() {
		return r
	}
	return n
}

// blocked reports whether the prompt was refused.
func blocked(n node) bool {
	return inner(n).get("promptFeedback").get("blockReason").has()
}

// chunk judges one response object by those before it.
func (r *geminiReading) chunk(n node) {
	n = inner(n)
	spoken := r.finished
	for _, c := range n.get("candidates").items() {
		if spoken && speaks(c) {
			c.fault("stream-order", "%s: want nothing after the finishReason, got more of the reply", c.at)
		}
		reason, _ := c.get("finishReason").text()
		r.finished = r.finished || reason != ""
		c.get("index").whole()
		content := c.get("content")
		content.object()
		content.get("role").among("role", "model")
		for _, p := range content.get("parts").items() {
			r.part(p)
		}
	}
	usage := n.get("usageMetadata")
	usage.object()
	for _, name := range []string{"promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount", "thoughtsTokenCount", "totalTokenCount"} {
		usage.get(name).whole()
	}
	if !n.get("candidates").has() && !n.get("usageMetadata").has() && !n.get("promptFeedback").has() && !n.get("error").has() {
		n.fault("required", "%s: want candidates, promptFeedback or usageMetadata, got none", orReply(n.at))
	}
}

// part judges one part of a reply. A call that goes on has its name in its first piece.
func (r *geminiReading) part(p node) {
	geminiPart(p)
	call := member(p, "functionCall")
	if !call.has() {
		return
	}
	if !r.open {
		geminiFunctionName(call)
	}
	r.open = call.get("willContinue").yes()
}

// geminiStream judges a streamed reply: server-sent events, or a list of responses.
func geminiStream(j *judge, stream []byte) {
	var chunks []node
	if bytes.HasPrefix(bytes.TrimSpace(stream), []byte("[")) {
		v, err := decode(stream)
		if err != nil {
			j.add("json", "", "%s", j.voice.malformed(err))
			return
		}
		chunks = node{j: j, at: "chunks", v: v}.items()
	} else {
		for i, f := range frames(j, stream) {
			n, ok := j.parse(j.voice.index("chunks", i), []byte(f.data))
			if !ok {
				return
			}
			chunks = append(chunks, n)
		}
	}
	var r geminiReading
	failed := false
	for _, n := range chunks {
		r.chunk(n)
		failed = failed || n.get("error").has() || blocked(n)
	}
	if !r.finished && !failed {
		j.add("stream-end", "", "stream: want a finishReason at the end, got none")
	}
}

// speaks reports whether a candidate of a chunk has more of the reply than a signature.
func speaks(c node) bool {
	for _, p := range c.get("content").get("parts").elements() {
		if p.get("text").say() != "" || member(p, "functionCall").has() {
			return true
		}
	}
	return false
}
