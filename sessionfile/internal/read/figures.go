package read

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// Figures returns what a file states of the tokens of a whole as the figures of a
// sessionfile.Stated; of its calls and of the thinking in the outputs unless they are 0.
func Figures(calls int, u llm.Usage) []sessionfile.Figure {
	all := []sessionfile.Figure{
		{Name: sessionfile.FigurePrompt, Value: int64(u.Prompt())},
		{Name: sessionfile.FigureInput, Value: int64(u.Input)},
		{Name: sessionfile.FigureCacheRead, Value: int64(u.CacheRead)},
		{Name: sessionfile.FigureCacheWrite, Value: int64(u.CacheWrite5m + u.CacheWrite1h)},
		{Name: sessionfile.FigureOutput, Value: int64(u.Output)},
	}
	if u.Reasoning > 0 {
		all = append(all, sessionfile.Figure{Name: sessionfile.FigureReasoning, Value: int64(u.Reasoning)})
	}
	if calls > 0 {
		all = append([]sessionfile.Figure{{Name: sessionfile.FigureCalls, Value: int64(calls)}}, all...)
	}
	return all
}

// Unpriced reports, at the first call that it is true of, why list prices do not hold.
func Unpriced(r *Reading, line int, why string) {
	r.Problem(line, "usage: %s: list prices do not hold, so the cost of such calls is not known", why)
}
