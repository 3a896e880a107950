package formats

import (
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/aider"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/body"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/claudecode"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/cline"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/codex"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/continuedev"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/copilot"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/geminicli"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/inspectlog"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/opencode"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/openhands"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/pi"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/qwen"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/recorded"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/sweagent"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/taubench"
)

// readers returns all readers. The first that knows a file reads it, so what is
// stricter comes first.
func readers() []read.Reader {
	return []read.Reader{
		qwen.Reader(), // before Claude Code, whose ids it has
		claudecode.Reader(),
		codex.Reader(),
		geminicli.Reader(),
		copilot.Reader(),
		pi.Reader(),
		cline.Reader(),
		opencode.Reader(),
		continuedev.Reader(),
		inspectlog.Reader(),
		openhands.Reader(),
		sweagent.Reader(),
		taubench.Reader(),
		recorded.Reader(),
		aider.Reader(),
		body.Reader(),
	}
}

// Formats returns all formats that can be read.
func Formats() []sessionfile.Format {
	var all []sessionfile.Format
	for _, r := range readers() {
		all = append(all, r.Formats...)
	}
	return all
}
