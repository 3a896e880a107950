package main

import (
	"io"

	"github.com/schollz/progressbar/v3"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
)

// newBar returns a progress bar for more than one file, or nil where nobody
// would see it.
func newBar(w io.Writer, files int) *progressbar.ProgressBar {
	if files < 2 || !console.IsTerminal(w) || console.IsDumb() {
		return nil
	}
	return progressbar.NewOptions(files,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("replaying"),
		progressbar.OptionClearOnFinish(), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true))
}

// newVerifyBar returns a progress bar for a store that takes a while, or nil where
// nobody would see it.
func newVerifyBar(w io.Writer, contents int) *progressbar.ProgressBar {
	const few = 10_000 // are read in a moment
	if contents < few || !console.IsTerminal(w) {
		return nil
	}
	return progressbar.NewOptions(contents,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("verifying"),
		progressbar.OptionClearOnFinish(), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true))
}
