package claudecode

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
)

// clientOnly are the attachments that Claude Code shows to the person or keeps
// for itself; they are not sent.
var clientOnly = map[string]bool{
	"command_permissions": true, "hook_cancelled": true, "hook_error_during_execution": true,
	"hook_non_blocking_error": true, "hook_permission_decision": true, "hook_system_message": true,
}

// attachmentTexts are the fields in which attachments carry what the model reads,
// in the order in which it is put together.
var attachmentTexts = []string{
	"content", "content.content", "content.file.content", "snippet", "addedLines", "addedBlocks", "prompt", "text", "message",
}

// attachment returns the message that an attachment line stands for, and false if
// nothing is sent for it. Text that the client would put around it is not in the
// file. An attachment without a text is one Opaque part of Kind "attachment/" and
// its type, with no bytes: something of unknown size is sent for it.
func (b *build) attachment(i int, body []byte) (llm.Message, bool) {
	rec, data := &b.records[i], gjson.ParseBytes(body)
	kind := data.Get("type").String()
	switch {
	case kind == "":
		b.Problem(rec.at(), "an attachment without a type, skipped")
		return llm.Message{}, false
	case clientOnly[kind]:
		return llm.Message{}, false
	case kind == "queued_command":
		return b.queued(rec, data)
	case kind == "hook_success" && !hookIsSent(data):
		return llm.Message{}, false
	}
	m := llm.Message{Role: llm.RoleUser, Origin: llm.Note}
	path := attachmentPath(data)
	if text := attachmentText(data); text != "" {
		if path != "" {
			text = path + "\n" + text
		}
		m.Parts = []llm.Part{llm.Text{Text: text}}
	} else {
		m.Parts = []llm.Part{llm.Opaque{Kind: "attachment/" + kind}}
	}
	if kind == "nested_memory" || kind == "file" && read.IsRulesFile(path) {
		m.Flags = llm.FlagRules
	}
	return m, true
}

// hookIsSent reports whether the output of a hook that ran well reaches the model:
// only hooks that open a session or a prompt do, and only what they print.
func hookIsSent(data gjson.Result) bool {
	switch data.Get("hookEvent").String() {
	case "SessionStart", "UserPromptSubmit", "":
		return attachmentText(data) != ""
	}
	return false
}

func attachmentPath(data gjson.Result) string {
	for _, field := range []string{"filename", "path"} {
		if v := data.Get(field); v.Type == gjson.String {
			return v.String()
		}
	}
	return ""
}

// attachmentText puts together the texts of an attachment.
func attachmentText(data gjson.Result) string {
	var texts []string
	for _, field := range attachmentTexts {
		v := data.Get(field)
		if v.Type == gjson.String {
			texts = append(texts, v.String())
			continue
		}
		if !v.IsArray() {
			continue
		}
		for _, element := range v.Array() {
			if element.IsObject() {
				element = element.Get("text")
			}
			if element.Type == gjson.String {
				texts = append(texts, element.String())
			}
		}
	}
	return strings.TrimSpace(strings.Join(texts, "\n"))
}

// queued returns a prompt that was typed, or a notice that came, while the model
// was at work.
func (b *build) queued(rec *record, data gjson.Result) (llm.Message, bool) {
	prompt := data.Get("prompt")
	m := llm.Message{Role: llm.RoleUser, Origin: llm.Note}
	if prompt.IsArray() {
		parts, _, err := anthropic.DecodeContent([]byte(prompt.Raw))
		if err != nil {
			b.Problem(rec.at(), "queued command, skipped: %v", err)
			return m, false
		}
		m.Parts, m.Dialect = parts, anthropic.Dialect
	} else if prompt.String() != "" {
		m.Parts = []llm.Part{llm.Text{Text: prompt.String()}}
	}
	mode, from := data.Get("commandMode").String(), data.Get("origin.kind").String()
	if !rec.has(isMeta|isSide) && (mode == "prompt" || mode == "") && (from == "human" || from == "") {
		m.Origin = wire.OriginOf(m.Parts)
	}
	return m, len(m.Parts) > 0
}
