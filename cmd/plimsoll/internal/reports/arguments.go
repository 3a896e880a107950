package reports

import (
	"charm.land/lipgloss/v2"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
)

// argumentsText shows the arguments of a call in so many columns: what the call is about without
// its name, a path by its end, and the others behind it if there is room.
func argumentsText(arguments string, columns int) string {
	call := rows.CallOf(arguments)
	if text := console.Safe(call.String()); lipgloss.Width(text) <= columns {
		return text
	}
	if call.Path {
		return console.Shorten(console.Safe(call.Main), columns)
	}
	return console.Clip(call.Main, columns)
}
