package check

// messagesReply judges a message.
func messagesReply(_ *judge, n node) {
	messageHead(n)
	reason, _ := n.get("stop_reason").must().text()
	n.get("stop_sequence").text()
	usage(n.get("usage"))
	calls := false
	for _, b := range n.get("content").items() {
		kind, _ := b.get("type").must().text()
		calls = calls || kind == "tool_use"
		replyBlock(b, kind)
	}
	if !n.states("content") {
		n.get("content").must()
	}
	if reason == "tool_use" && !calls {
		n.fault("stop-call", "stop_reason: want a tool_use block for the reason tool_use, got none")
	}
}

// messageHead judges what a message and the start of a streamed one have in common.
func messageHead(n node) {
	n.get("id").must().text()
	n.get("type").must().among("value", "message")
	n.get("role").must().among("role", "assistant")
	n.get("model").must().text()
}

// usage judges the figures without which the official clients fail.
func usage(u node) {
	u.record()
	u.get("input_tokens").must().whole()
	u.get("output_tokens").must().whole()
	u.get("cache_creation_input_tokens").whole()
	u.get("cache_read_input_tokens").whole()
}

// replyBlock judges a block that the model wrote. In a reply the path of a member does not name the block's kind.
func replyBlock(n node, kind string) {
	b := block{node: n, fields: n, kind: kind}
	switch kind {
	case "text":
		n.get("text").must().text() // a model may end with an empty one
	case "image", "document", "tool_result":
		n.fault("block-role", "%s: want a block that a model writes, got `%s`", n.at, kind)
	default:
		b.shape()
	}
}
