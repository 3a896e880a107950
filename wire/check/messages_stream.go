package check

// A messageStream follows the events of one streamed message (Anthropic, "Streaming messages").
type messageStream struct {
	*judge
	started bool
	stopped bool   // message_stop, or an error, has come
	delta   bool   // message_delta has come
	open    string // kind of the block that is open; empty if none is
	next    int64  // index of the next block
	deltas  int    // of the open block
	signed  bool   // the open block has got its signature
	calls   bool
	reason  string
}

// messagesStream judges a streamed message.
func messagesStream(j *judge, stream []byte) {
	s := &messageStream{judge: j}
	for i, f := range frames(j, stream) {
		n, ok := j.parse(j.voice.index("events", i), []byte(f.data))
		if !ok {
			return
		}
		kind, _ := n.get("type").must().text()
		if f.name != kind {
			n.fault("event-name", "%s: want the event's name to be its type %q, got %q", n.at, kind, f.name)
		}
		s.event(n, kind)
	}
	switch {
	case !s.stopped:
		j.add("stream-end", "", "stream: want message_stop at the end, got none")
	case s.reason == "tool_use" && !s.calls:
		j.add("stop-call", "", "stop_reason: want a tool_use block for the reason tool_use, got none")
	}
}

// event judges one event by what came before it.
func (s *messageStream) event(n node, kind string) {
	if kind == "ping" {
		return
	}
	if s.stopped {
		n.fault("stream-end", "%s: want nothing after the end, got %s", n.at, kind)
		return
	}
	if !s.started && kind != "message_start" && kind != "error" {
		n.fault("stream-order", "%s: want message_start first, got %s", n.at, kind)
		s.started = true // said once
	}
	switch kind {
	case "message_start":
		s.start(n)
	case "content_block_start":
		s.blockStart(n)
	case "content_block_delta":
		s.blockDelta(n)
	case "content_block_stop":
		s.blockStop(n)
	case "message_delta":
		s.messageDelta(n)
	case "message_stop":
		if s.open != "" || !s.delta {
			n.fault("stream-order", "%s: want every block stopped and a message_delta before message_stop", n.at)
		} else if s.reason == "" {
			n.fault("stop-missing", "%s: want a stop_reason before message_stop, got none", n.at)
		}
		s.stopped = true
	case "error":
		n.get("error").record().get("type").must().text()
		s.stopped = true
	}
}

func (s *messageStream) start(n node) {
	if s.started {
		n.fault("stream-order", "%s: want one message_start, got another", n.at)
		return
	}
	s.started = true
	m := n.get("message").record()
	messageHead(m)
	usage(m.get("usage"))
	m.get("content").must().list()
}

func (s *messageStream) blockStart(n node) {
	s.placed(n, s.next)
	if s.open != "" {
		n.fault("stream-order", "%s: want the open block stopped before the next starts", n.at)
	}
	if s.delta {
		n.fault("stream-order", "%s: want no block after message_delta", n.at)
	}
	b := n.get("content_block").must()
	kind, _ := b.get("type").must().text()
	switch kind {
	case "text":
		b.get("text").must().text()
	case "thinking":
		b.get("thinking").must().text()
	case "tool_use", "server_tool_use", "mcp_tool_use":
		block{node: b, fields: b, kind: kind}.call()
	}
	s.calls = s.calls || kind == "tool_use"
	s.open, s.deltas, s.signed = kind, 0, b.get("signature").say() != ""
}

// placed judges the index of an event of a block.
func (s *messageStream) placed(n node, want int64) {
	if got, ok := n.get("index").must().whole(); ok && got != want {
		n.fault("block-index", "%s.index: want %d, got %d", n.at, want, got)
	}
}

// deltaKinds says which deltas a block takes; blocks that are not here take any.
func deltaKinds(block string) []string {
	switch block {
	case "text":
		return []string{"text_delta", "citations_delta"}
	case "thinking":
		return []string{"thinking_delta", "signature_delta"}
	case "tool_use", "server_tool_use", "mcp_tool_use":
		return []string{"input_json_delta"}
	case "redacted_thinking":
		return []string{}
	case "compaction":
		return []string{"compaction_delta"}
	}
	return nil
}

func (s *messageStream) blockDelta(n node) {
	if s.open == "" {
		n.fault("stream-order", "%s: want an open block for a delta, got none", n.at)
		return
	}
	s.placed(n, s.next)
	d := n.get("delta").must()
	kind, _ := d.get("type").must().text()
	if kinds := deltaKinds(s.open); kinds != nil {
		d.get("type").among("delta-kind", kinds...)
	}
	members := map[string]string{
		"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature", "input_json_delta": "partial_json",
	}
	if member, ok := members[kind]; ok {
		d.get(member).must().text()
	}
	if s.signed && s.deltas > 0 {
		n.fault("stream-order", "%s: want content_block_stop after the signature, got %s", n.at, kind)
	}
	s.signed = s.signed || kind == "signature_delta"
	s.deltas++
}

func (s *messageStream) blockStop(n node) {
	if s.open == "" {
		n.fault("stream-order", "%s: want an open block to stop, got none", n.at)
		return
	}
	s.placed(n, s.next)
	if s.open == "thinking" && !s.signed {
		n.fault("thinking-signature", "%s: want a signature before a thinking block stops", n.at)
	}
	s.open = ""
	s.next++
}

func (s *messageStream) messageDelta(n node) {
	if s.open != "" {
		n.fault("stream-order", "%s: want every block stopped before message_delta", n.at)
	}
	d := n.get("delta").record()
	if reason, ok := d.get("stop_reason").text(); ok {
		s.reason = reason
	}
	d.get("stop_sequence").text()
	n.get("usage").record().get("output_tokens").must().whole()
	s.delta = true
}
