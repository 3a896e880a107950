package check

// responsesReply judges a response object, or what the compact call returns.
func responsesReply(_ *judge, n node) {
	object := n.get("object").must().among("value", "response", "response.compaction")
	n.get("id").must().text()
	n.get("created_at").must().whole()
	for _, item := range n.get("output").must().items() {
		responsesOutput(item)
	}
	responsesUsage(n.get("usage"))
	if object != "response" {
		return
	}
	n.get("model").must().text()
	switch n.get("status").must().among("value", "completed", "failed", "in_progress", "cancelled", "queued", "incomplete") {
	case "incomplete":
		n.get("incomplete_details").record().get("reason").must().text()
	case "failed":
		n.get("error").record().get("code").must()
	}
}

func responsesUsage(u node) {
	u.object()
	u.get("input_tokens").must().whole()
	u.get("output_tokens").must().whole()
	u.get("total_tokens").whole()
}

// responsesOutput judges an item that the model wrote.
func responsesOutput(item node) {
	kind, _ := item.get("type").must().text()
	switch kind {
	case "message":
		item.get("id").must().text()
		role := item.get("role").must().among("role", "assistant", "user")
		for _, p := range item.get("content").must().items() {
			responsesOutputPart(p, role)
		}
	case "function_call":
		item.get("call_id").must().text()
		item.get("name").must().text()
		item.get("arguments").must().text()
	case "custom_tool_call":
		item.get("call_id").must().text()
		item.get("name").must().text()
		item.get("input").must().text()
	case "reasoning":
		item.get("id").must().text()
		for _, s := range item.get("summary").must().items() {
			s.get("text").must().text()
		}
	case "compaction":
		item.get("encrypted_content").must().text()
	}
}

func responsesOutputPart(p node, role string) {
	kind, _ := p.get("type").must().text()
	switch kind {
	case "output_text":
		p.get("text").must().text()
		p.get("annotations").items()
	case "refusal":
		p.get("refusal").must().text()
	case "input_text", "input_image", "input_file":
		if role == "assistant" {
			p.fault("part-role", "%s: want output_text or refusal of an assistant, got %s", p.at, kind)
		}
	}
}
