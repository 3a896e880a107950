package llm

// UserText returns what a person says. It opens a Turn.
func UserText(text string) Message { return made(RoleUser, Human, Text{Text: text}) }

// NoteText returns what the program tells the model beside what people say: a reminder,
// the state of something, the text of a file. It is sent as the user's and opens no Turn.
func NoteText(text string) Message { return made(RoleUser, Note, Text{Text: text}) }

// AssistantText returns what a model says, and the tools that it calls. Without a text it
// only calls.
func AssistantText(text string, calls ...ToolCall) Message {
	parts := make([]Part, 0, 1+len(calls))
	if text != "" || len(calls) == 0 {
		parts = append(parts, Text{Text: text})
	}
	for _, c := range calls {
		parts = append(parts, c)
	}
	return made(RoleAssistant, Model, parts...)
}

// ToolText returns what a tool put out for the call of that id.
func ToolText(callID, output string) Message { return result(callID, output, false) }

// ToolError returns what a tool that failed says of the call of that id.
func ToolError(callID, text string) Message { return result(callID, text, true) }

// SystemText returns a piece of the system prompt that stays as it is, so that a provider
// may cache it.
func SystemText(text string) Section { return Section{Name: "system", Text: text, Cacheable: true} }

func result(callID, text string, failed bool) Message {
	return made(RoleTool, ToolRun, ToolResult{CallID: callID, IsError: failed, Content: []Part{Text{Text: text}}})
}

func made(r Role, o Origin, parts ...Part) Message { return Message{Role: r, Origin: o, Parts: parts} }
