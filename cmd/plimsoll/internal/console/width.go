package console

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// Widths of what is printed, in columns.
const (
	pipeWidth  = 120 // where there is no screen
	mostWidth  = 200
	leastWidth = 60
)

// Width returns how wide what is printed on w may be, in columns.
func Width(w io.Writer) int {
	if width := ScreenWidth(w); width > 0 {
		return min(max(width, leastWidth), mostWidth)
	}
	return pipeWidth
}

// ScreenWidth returns how wide the screen is that w is shown on: the terminal's width, else what
// COLUMNS says; 0: there is none, or it does not know.
func ScreenWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
		return pipeWidth // some terminals do not know
	}
	width, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || width < 0 {
		return 0
	}
	return width
}

// IsDumb reports whether the terminal obeys nothing: it gets plain text.
func IsDumb() bool { return os.Getenv("TERM") == "dumb" }

// IsTerminal reports whether a stream, such as the standard input, is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Colourful reports whether a chart on w may tell contents by colour alone.
func Colourful(w io.Writer) bool { return IsTerminal(w) && os.Getenv("NO_COLOR") == "" && !IsDumb() }
