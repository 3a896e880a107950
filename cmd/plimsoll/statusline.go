package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
)

func newStatusline(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "statusline",
		Short: "Print Claude Code's status line: how full the context is",
		Long: `Statusline reads what Claude Code gives to its status-line command on the standard
input, and prints one line: the tokens of the last prompt and the window, whether the
provider's cache is still warm, what the session cost so far, and how many calls are left
at the rate of the last ones. It reads the end of the session's file for that, nothing
else. In ~/.claude/settings.json:

  {"statusLine": {"type": "command", "command": "plimsoll statusline"}}`,
		Example: `  echo '{"transcript_path": "session.jsonl"}' | plimsoll statusline`,
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			body, err := io.ReadAll(io.LimitReader(s.in, maxStatus))
			if err != nil {
				return fail(fmt.Errorf("statusline: %w", err), "")
			}
			var in status
			if err := json.Unmarshal(body, &in); err != nil {
				return fail(fmt.Errorf("statusline: want the JSON that Claude Code gives to its status line, got: %w", err), "plimsoll statusline --help says how it is set up")
			}
			cat, err := loadCatalog("")
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(s.out, console.Safe(in.line(cat, lastCalls(in.Transcript), time.Now())))
			return fail(err, "")
		},
	}
}

// maxStatus bounds what is read of the standard input, in bytes.
const maxStatus = 1 << 20

// A status is what Claude Code says to a status line; fields that are not there are zero.
type status struct {
	Transcript string `json:"transcript_path"`
	Model      struct {
		ID string `json:"id"`
	} `json:"model"`
	Cost struct {
		USD *float64 `json:"total_cost_usd"`
	} `json:"cost"`
	Context struct {
		Size  int      `json:"context_window_size"`
		Usage *callUse `json:"current_usage"`
	} `json:"context_window"`
}

// A callUse is the usage of one call, as the provider reports it.
type callUse struct {
	Input   int `json:"input_tokens"`
	Read    int `json:"cache_read_input_tokens"`
	Written int `json:"cache_creation_input_tokens"`
	Kept    struct {
		Hour int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
}

func (u callUse) prompt() int { return u.Input + u.Read + u.Written }

// A lastCall is one of the newest calls of a session.
type lastCall struct {
	id    string
	model string
	use   callUse
	at    time.Time
}

// mostTail is how much of the end of a session's file is looked at, in bytes.
const mostTail = 4 << 20

// lastCalls reads the newest calls from the end of a session's file, in their order; none if it
// cannot be read.
func lastCalls(path string) []lastCall {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil
	}
	from := max(0, size-mostTail)
	tail, err := io.ReadAll(io.NewSectionReader(f, from, size-from))
	if err != nil {
		return nil
	}
	if from > 0 {
		_, tail, _ = bytes.Cut(tail, []byte("\n")) // the first line is a part of one
	}
	var all []lastCall
	for line := range bytes.Lines(tail) {
		switch {
		case bytes.Contains(line, []byte(`"compact_boundary"`)):
			all = nil // another context
		case bytes.Contains(line, []byte(`"usage"`)):
			all = appendCall(all, line)
		}
	}
	return all
}

// appendCall adds the call of a line; each block of a reply is on a line of its own.
func appendCall(all []lastCall, line []byte) []lastCall {
	var l struct {
		Side    bool      `json:"isSidechain"`
		At      time.Time `json:"timestamp"`
		Message struct {
			ID    string  `json:"id"`
			Model string  `json:"model"`
			Usage callUse `json:"usage"`
		} `json:"message"`
	}
	if json.Unmarshal(line, &l) != nil || l.Side || l.Message.Usage.prompt() <= 0 {
		return all
	}
	c := lastCall{l.Message.ID, l.Message.Model, l.Message.Usage, l.At}
	if n := len(all); n > 0 && c.id != "" && all[n-1].id == c.id {
		all[n-1] = c
		return all
	}
	return append(all, c)
}

// line writes the status line.
func (in status) line(cat catalog.Catalog, calls []lastCall, now time.Time) string {
	var last lastCall
	if n := len(calls); n > 0 {
		last = calls[n-1]
	}
	tokens := last.use.prompt()
	if in.Context.Usage != nil {
		tokens = in.Context.Usage.prompt()
	}
	if tokens <= 0 {
		return "no call yet"
	}
	model := last.model
	if in.Model.ID != "" {
		model = in.Model.ID
	}
	window := cat.WindowOf("claude-code", model, in.Context.Size, tokens).Tokens
	parts := []string{edit.Thousands(tokens) + " tokens"}
	if window > 0 {
		parts[0] = fmt.Sprintf("%s of %s tokens (%s)", edit.Thousands(tokens), edit.Thousands(window), console.Share(tokens, window))
	}
	if text := warmth(last, now); text != "" {
		parts = append(parts, text)
	}
	if in.Cost.USD != nil {
		parts = append(parts, fmt.Sprintf("$%.2f", *in.Cost.USD))
	}
	if left, ok := callsLeft(calls, tokens, window); ok {
		parts = append(parts, "about "+console.Plural(left, "step")+" left")
	}
	return strings.Join(parts, " | ")
}

// warmth says how long the provider still keeps what the last call had.
func warmth(last lastCall, now time.Time) string {
	if last.at.IsZero() || last.use.Read+last.use.Written == 0 {
		return ""
	}
	kept := 5 * time.Minute // what is marked without a lifetime
	if last.use.Kept.Hour > 0 {
		kept = time.Hour
	}
	left := kept - now.Sub(last.at)
	switch {
	case left <= 0:
		return "cache cold"
	case left < time.Minute:
		return fmt.Sprintf("cache warm for %ds", int(left.Seconds()))
	}
	return fmt.Sprintf("cache warm for %dm", int(left.Minutes()))
}

// rateCalls is by how many calls the rate is measured.
const rateCalls = 10

// callsLeft returns how many calls like the last ones fit in what is left of a window.
func callsLeft(calls []lastCall, tokens, window int) (int, bool) {
	calls = calls[max(0, len(calls)-rateCalls-1):]
	if len(calls) < 2 || window <= tokens {
		return 0, false
	}
	grown := calls[len(calls)-1].use.prompt() - calls[0].use.prompt()
	if grown <= 0 {
		return 0, false
	}
	return (window - tokens) * (len(calls) - 1) / grown, true
}
