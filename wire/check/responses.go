package check

import (
	"slices"
	"strings"
)

// responsesCallID is how long a call's id may be, as the API's own 400s state it.
const responsesCallID = 64

// responsesLogprobs is what a request includes to have what other formats call logprobs.
const responsesLogprobs = "message.output_text.logprobs"

// responsesRequest judges a request of the Responses API, of its compact call, or of its count of tokens.
func responsesRequest(_ *judge, n node) {
	n.get("model").text() // a stored prompt may name the model
	n.get("instructions").text()
	responsesParameters(n)
	refused := refusedOf(responses, n.get("model").say())
	effort := n.get("reasoning").get("effort").say()
	openaiSettings(n, refused, effort)
	for _, s := range n.get("include").elements() {
		if s.say() == responsesLogprobs && refused.Refuses("logprobs", effort) {
			s.fault("setting", "Unsupported parameter: '%s' is not supported with this model.", responsesLogprobs)
		}
	}
	input := n.get("input")
	known := n.get("previous_response_id").has() || n.get("conversation").has()
	if !input.has() && !known && !n.get("prompt").has() {
		input.fault("required", "Missing required parameter: one of 'input' or 'previous_response_id' or 'prompt' or 'conversation' must be provided.")
	}
	if n.get("previous_response_id").has() && n.get("conversation").has() {
		n.get("conversation").fault("history-twice", "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Ensure you are only providing one of them.")
	}
	if !input.isText() {
		items := input.items()
		for _, item := range items {
			responsesItem(item)
		}
		responsesPairs(items, known)
		responsesReasoning(items, n.get("store").v)
	}
	names := openaiTools(n.get("tools"), refused, func(t node) node { return t })
	openaiChoice(n, names, func(c node) node { return c.get("name") })
}

// responsesParameters judges the members beside input and tools.
func responsesParameters(n node) {
	n.get("stream").yes()
	n.get("store").yes()
	n.get("parallel_tool_calls").yes()
	n.get("temperature").within(0, 2)
	n.get("top_p").within(0, 1)
	n.get("max_output_tokens").whole()
	n.get("metadata").object()
	n.get("reasoning").object()
	n.get("text").object()
	n.get("truncation").among("value", "auto", "disabled")
	for _, s := range n.get("include").list() {
		s.text()
	}
	for _, e := range n.get("context_management").items() {
		e.get("type").must().among("value", "compaction")
		if t := e.get("compact_threshold"); t.has() {
			if n, ok := t.whole(); ok && n < 1 {
				t.fault("edit-trigger", "Invalid '%s': integer below minimum value. Expected a value >= 1, but got %d instead.", t.at, n)
			}
		}
	}
	if key, ok := n.get("prompt_cache_key").text(); ok && len(key) > responsesCallID {
		tooLong(n.get("prompt_cache_key"), "value", key, responsesCallID)
	}
}

// idPrefixes are the beginnings of ids that the API demands of items that have one, as far as its 400s show them.
func idPrefix(kind string) string {
	switch kind {
	case "message":
		return "msg"
	case "reasoning":
		return "rs"
	case "function_call", "function_call_output", "custom_tool_call_output":
		return "fc"
	case "custom_tool_call":
		return "ctc"
	case "web_search_call":
		return "ws"
	}
	return ""
}

// responsesItem judges one input item by itself. Kinds that are not known are left alone.
func responsesItem(item node) {
	kind, typed := item.get("type").text()
	if !typed && !item.get("type").has() { // the short forms have none
		kind = "message"
		if !item.get("role").has() && item.get("id").has() {
			kind = "item_reference"
		}
	}
	id, ok := item.get("id").text()
	if prefix := idPrefix(kind); ok && prefix != "" && !strings.HasPrefix(id, prefix) {
		item.get("id").fault("item-id", "Invalid '%s.id': '%s'. Expected an ID that begins with '%s'.", item.at, id, prefix)
	}
	switch kind {
	case "message":
		responsesMessage(item)
	case "function_call":
		responsesCall(item)
		item.get("arguments").must().text()
	case "custom_tool_call":
		responsesCall(item)
		item.get("input").must().text()
	case "function_call_output", "custom_tool_call_output":
		responsesCallIDOf(item)
		if output := item.get("output").must(); !output.isText() {
			for _, p := range output.items() {
				responsesMedia(p)
			}
		}
	case "reasoning":
		item.get("summary").must().items()
		item.get("encrypted_content").text()
	case "item_reference":
		item.get("id").must()
	case "compaction":
		item.get("encrypted_content").must().text()
	}
}

func responsesCall(item node) {
	responsesCallIDOf(item)
	if name, ok := item.get("name").must().text(); ok {
		openaiToolName(item.get("name"), name)
	}
}

func responsesCallIDOf(item node) {
	id, ok := item.get("call_id").must().text()
	switch {
	case !ok:
	case id == "":
		item.get("call_id").fault("call-id", "Invalid '%s.call_id': empty string. Expected a string with minimum length 1, but got an empty string instead.", item.at)
	case len(id) > responsesCallID:
		tooLong(item.get("call_id"), "call-id", id, responsesCallID)
	}
}

// responsesMessage judges a message: what is said to the model is input, what it said is output.
func responsesMessage(item node) {
	role := item.get("role").must().among("role", "assistant", "system", "developer", "user")
	content := item.get("content").must()
	if content.isText() {
		return
	}
	for _, p := range content.items() {
		kind, _ := p.get("type").must().text()
		switch kind {
		case "input_text", "output_text":
			p.get("text").must().text()
		case "refusal":
			p.get("refusal").must().text()
		}
		responsesMedia(p)
		switch {
		case strings.HasPrefix(kind, "input_") && role == "assistant":
			p.get("type").fault("part-role", "Invalid value: '%s'. Supported values are: 'output_text' and 'refusal'.", kind)
		case (kind == "output_text" || kind == "refusal") && role != "assistant" && role != "":
			p.get("type").fault("part-role", "Invalid value: '%s'. Supported values are: 'input_text', 'input_image', and 'input_file'.", kind)
		}
	}
}

// responsesMedia judges where the bytes of an image or a file are.
func responsesMedia(p node) {
	switch p.get("type").say() {
	case "input_image":
		p.get("image_url").inDataURI()
	case "input_file":
		p.get("file_data").inDataURI()
	}
}

// outputOf names the kind of item that answers a call which the client runs, and the words that the API has for the call; nothing for others.
func outputOf(kind string) (output, words string) {
	switch kind {
	case "function_call":
		return "function_call_output", "function call"
	case "custom_tool_call":
		return "custom_tool_call_output", "custom tool call"
	case "computer_call":
		return "computer_call_output", "computer call"
	case "local_shell_call":
		return "local_shell_call_output", "local shell call"
	}
	return "", ""
}

// responsesPairs judges that calls are answered and that answers have a call. Ids may come again in a later round (some providers count
// them anew in each), so an answer closes the call before it. Where the server holds a part of the history, an answer may have its call
// there.
func responsesPairs(items []node, known bool) {
	open := map[string][]node{} // by kind of the answer and id of the call
	for _, item := range items {
		kind, id := item.get("type").say(), item.get("call_id").say()
		if kind == "item_reference" || kind == "compaction" {
			known = true
		}
		if output, _ := outputOf(kind); output != "" {
			open[output+id] = append(open[output+id], item)
			continue
		}
		call, isOutput := strings.CutSuffix(kind, "_output")
		_, words := outputOf(call)
		if !isOutput || words == "" {
			continue
		}
		if waiting := open[kind+id]; len(waiting) > 0 {
			open[kind+id] = waiting[1:]
		} else if !known {
			item.fault("result-orphan", "No tool call found for %s output with call_id %s.", words, id)
		}
	}
	var left []node
	for _, waiting := range open {
		left = append(left, waiting...)
	}
	slices.SortFunc(left, func(a, b node) int { return strings.Compare(a.at, b.at) })
	for _, call := range left {
		_, words := outputOf(call.get("type").say())
		call.fault("call-unanswered", "No tool output found for %s %s.", words, call.get("call_id").say())
	}
}

// responsesReasoning judges reasoning that the client does not hold itself: with store false the server does not hold it either, and where it
// does, reasoning goes with the item that it led to. Reasoning in encrypted form may stand anywhere.
func responsesReasoning(items []node, store any) {
	for i, item := range items {
		if item.get("type").say() != "reasoning" || item.get("encrypted_content").has() || item.get("content").has() {
			continue
		}
		id := item.get("id").say()
		if id == "" {
			continue
		}
		if store == false {
			item.fault("reasoning-unstored", "Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", id)
			continue
		}
		if i+1 == len(items) || !isOutput(items[i+1]) {
			item.fault("reasoning-alone", "Item '%s' of type 'reasoning' was provided without its required following item.", id)
		}
	}
}

// isOutput reports whether an item is something that the model wrote.
func isOutput(item node) bool {
	kind, role := item.get("type").say(), item.get("role").say()
	if role != "" {
		return role == "assistant"
	}
	return !strings.HasSuffix(kind, "_output")
}
