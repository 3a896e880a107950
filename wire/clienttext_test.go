package wire

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

func TestFromClient(t *testing.T) {
	tests := map[string]bool{
		"":                                true,
		" \n":                             true,
		"hello":                           false,
		"<command-name>/x</command-name>": true,
		"<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>":                                                                      true,
		"<system-reminder>a</system-reminder> and so on":                                                                               false,
		"<system-reminder>\nThe user sent a new message while you were working:\nstop\n\nThis is how it is shown.\n</system-reminder>": false,
		"<system-reminder>\nThe user sent the following message:\nstop\n\nPlease go on.\n</system-reminder>":                           false,
		"<system-reminder>a</system-reminder>\n<system-reminder>The user sent the following message:\nstop</system-reminder>":          false,
		"<system-reminder>Say: The user sent the following message:</system-reminder>":                                                 true,
		"so on <system-reminder>a</system-reminder>":                                                                                   false,
		"<system-reminder>not closed": false,
		"<div>mine</div>":             false,
		"<":                           false,
		"<command-name":               false,
		"<ide_selection line=\"3\">x</ide_selection>":                           true,
		"<permissions instructions>a</permissions instructions>":                true,
		"<collaboration_mode># Plan</collaboration_mode>":                       true,
		"# AGENTS.md instructions for /g\n\n<INSTRUCTIONS>\na\n</INSTRUCTIONS>": true,
		"# AGENTS.md instructions for /g":                                       true,
		"# AGENTS.md is empty, fix it":                                          false,
		"[Request interrupted by user]":                                         true,
		"[Request interrupted by user] but go on":                               false,
	}
	for text, want := range tests {
		if got := fromClient(text); got != want {
			t.Errorf("%q: want %v, got %v", text, want, got)
		}
	}
	if got := OriginOf([]llm.Part{llm.Opaque{Kind: "x"}}); got != llm.Note {
		t.Errorf("a message without words or media: want a Note, got %v", got)
	}
}
