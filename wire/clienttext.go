package wire

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// clientTags are the tags in which clients wrap text that no person typed:
// commands and their output, reminders, environment descriptions. Attributes are
// allowed after a space.
var clientTags = map[string]bool{
	// Claude Code
	"bash-input": true, "bash-stdout": true, "bash-stderr": true,
	"command-args": true, "command-contents": true, "command-message": true, "command-name": true,
	"ide_diagnostics": true, "ide_opened_file": true, "ide_selection": true, "new-diagnostics": true,
	"local-command-caveat": true, "local-command-stderr": true, "local-command-stdout": true,
	"mcp-polling-update": true, "mcp-resource-update": true,
	"post-tool-use-hook": true, "session-start-hook": true, "user-prompt-submit-hook": true,
	"system-reminder": true, "task-notification": true, "teammate-message": true,
	// Codex
	"INSTRUCTIONS": true, "apps_instructions": true, "collaboration_mode": true,
	"environment_context": true, "hook_prompt": true, "permissions": true, "plugins_instructions": true,
	"skill": true, "skills_instructions": true, "subagent_notification": true, "turn_aborted": true,
	"user_instructions": true, "user_shell_command": true,
	// Gemini CLI, Copilot CLI, Cline
	"session_context": true, "state_snapshot": true, "system_notification": true, "SYSTEM_NOTICE": true, "mode_notice": true,
}

// clientTexts are whole messages that clients write in the user's name.
var clientTexts = map[string]bool{
	"[Request interrupted by user]":              true,
	"[Request interrupted by user for tool use]": true,
}

// steering is how a client begins the text around what a person typed while the model was
// at work: Claude Code (also in a message of the system's), opencode. In a reminder's tag it
// is a person's all the same.
var steering = []string{"The user sent a new message while you were working:", "The user sent the following message:"}

// Steers reports whether a text is what a person typed while the model was at work, in the
// words of a client.
func Steers(text string) bool {
	text = strings.TrimSpace(text)
	return slices.ContainsFunc(steering, func(opening string) bool { return strings.HasPrefix(text, opening) })
}

// Steered returns where in a tool's output a person's words begin that a client put behind
// it: in a tag of its own, as [Steers] knows them, with nothing but more such tags after
// them. ok is false if there are none.
func Steered(output string) (at int, ok bool) {
	if !strings.HasSuffix(strings.TrimSpace(output), ">") {
		return 0, false // as nearly all of them are
	}
	for _, opening := range steering {
		for from := 0; ; {
			i := strings.Index(output[from:], opening)
			if i < 0 {
				break
			}
			from += i + len(opening)
			if at = strings.LastIndexByte(output[:from-len(opening)], '<'); at >= 0 && onlySteers(output[at:], opening) {
				return at, true
			}
		}
	}
	return 0, false
}

// onlySteers reports whether a text is nothing but client tags, of which the first one holds
// a person's words that begin with opening.
func onlySteers(text, opening string) bool {
	_, inside, _ := strings.Cut(text, ">")
	if !strings.HasPrefix(strings.TrimSpace(inside), opening) {
		return false
	}
	for text != "" {
		rest, ok := cutAnyTag(text)
		if !ok {
			return false
		}
		text = strings.TrimSpace(rest)
	}
	return true
}

// agentsHeading begins the line above the standing instructions that Codex reads
// from AGENTS.md files.
const agentsHeading = "# AGENTS.md instructions for "

// fromClient reports whether a text in the user's role consists of nothing but a
// client's tags and texts. An empty text does.
func fromClient(text string) bool {
	for {
		text = strings.TrimSpace(text)
		if text == "" || clientTexts[text] {
			return true
		}
		if strings.HasPrefix(text, agentsHeading) {
			_, text, _ = strings.Cut(text, "\n")
			continue
		}
		rest, ok := cutTag(text)
		if !ok {
			return false
		}
		text = rest
	}
}

// cutTag removes one client tag with its content from the front of text, but for a
// person's words.
func cutTag(text string) (rest string, ok bool) {
	if end := strings.IndexAny(text, "> "); end < 0 || Steers(text[end+1:]) {
		return "", false
	}
	return cutAnyTag(text)
}

// cutAnyTag removes one client tag with its content from the front of text.
func cutAnyTag(text string) (rest string, ok bool) {
	end := strings.IndexAny(text, "> ")
	if text[0] != '<' || end < 0 || !clientTags[text[1:end]] {
		return "", false
	}
	name := text[1:end]
	// "<permissions instructions>" is closed by its whole text, attributes are not.
	if gt := strings.IndexByte(text, '>'); gt > end {
		if _, rest, ok := strings.Cut(text, "</"+text[1:gt]+">"); ok {
			return rest, true
		}
	}
	_, rest, ok = strings.Cut(text, "</"+name+">")
	return rest, ok
}

// Said returns m, which stands in the user's name and is not marked as anybody else's,
// with the origin and the flags that its parts tell.
func Said(m llm.Message) llm.Message {
	if m.Origin = OriginOf(m.Parts); m.Origin == llm.Note {
		m.Flags |= RulesIn(m.Parts)
	}
	return m
}

// OriginOf says who wrote the parts of a message in the user's role that nothing marks as
// the client's. Pasted media are a person's.
func OriginOf(parts []llm.Part) llm.Origin {
	for _, p := range parts {
		switch p := p.(type) {
		case llm.Text:
			if !fromClient(p.Text) {
				return llm.Human
			}
		case llm.Media:
			return llm.Human
		}
	}
	return llm.Note
}

// RulesIn returns llm.FlagRules if a Note carries standing instructions.
func RulesIn(parts []llm.Part) llm.Flags {
	for _, p := range parts {
		t, ok := p.(llm.Text)
		if !ok {
			continue
		}
		text := strings.TrimSpace(t.Text)
		if strings.HasPrefix(text, agentsHeading) || strings.HasPrefix(text, "<user_instructions>") ||
			strings.HasPrefix(text, "<system-reminder>") && strings.Contains(text, "# claudeMd") {
			return llm.FlagRules
		}
	}
	return 0
}
