package main

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/reports"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// replayCommand is what docs/replay.svg shows, inspectCommand what docs/inspect.svg shows.
const (
	replayCommand  = "plimsoll replay examples/gemini-cli.jsonl --policy off --policy balanced --window 50%"
	inspectCommand = "plimsoll inspect examples/pi.jsonl"
)

// TestPicture checks that docs/replay.svg shows what the program prints, in its colours.
// With -update it is drawn again.
func TestPicture(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sh", "-c", replayCommand)
	cmd.Dir = workFolder(t)
	cmd.Env = append(os.Environ(), "NO_COLOR=", "CLICOLOR_FORCE=1", "TERM=xterm", "COLORTERM=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	samePicture(t, "replay.svg", replayCommand, string(out))
}

// TestPictureChart checks that docs/inspect.svg shows the chart that inspect draws where
// contents can be told by colour, which no pipe can.
func TestPictureChart(t *testing.T) {
	path := strings.Fields(inspectCommand)[2]
	session, err := formats.Open(filepath.Join(repo, path))
	if err != nil {
		t.Fatal(err)
	}
	session.Path = path
	options, err := inspectFlags{}.options()
	if err != nil {
		t.Fatal(err)
	}
	r, err := inspect.Session(session, options)
	if err != nil {
		t.Fatal(err)
	}
	samePicture(t, "inspect.svg", inspectCommand, reports.Inspection(r, 110, true, false))
}

// samePicture compares a picture in docs with what is to be on it.
func samePicture(t *testing.T, name, command, screen string) {
	t.Helper()
	want := draw(command, "$ "+command+"\n"+screen)
	path := filepath.Join(repo, "docs", name)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil { //nolint:gosec // a public picture
			t.Fatal(err)
		}
		return
	}
	if read(t, path) != want {
		t.Errorf("%s does not show what %s prints; go test ./cmd/plimsoll -run TestPicture -update draws it again", path, command)
	}
}

// The picture's measures, in pixels.
const (
	charWidth  = 8.4
	lineHeight = 20
	margin     = 18
)

// draw writes a terminal's content as SVG. It knows the escape sequences that the
// program uses: bold, faint, red, green, and the colours of the chart.
func draw(command, screen string) string {
	lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
	width := 0
	for _, l := range lines {
		width = max(width, lipgloss.Width(strip(l)))
	}
	var b strings.Builder
	w, h := float64(width)*charWidth+2*margin, len(lines)*lineHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" role="img" aria-label="%s">`+"\n",
		w, h, w, h, html.EscapeString("What "+command+" prints"))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="#16202a"/>`+"\n")
	fmt.Fprintf(&b, `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" fill="#d7dee5" xml:space="preserve">`+"\n")
	for i, l := range lines {
		bars, text := drawLine(l, margin+lineHeight*i)
		b.WriteString(bars)
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", margin, margin+lineHeight*i+15, text)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// looks is how a stretch of text looks after an escape sequence.
func looks() map[string]string {
	return map[string]string{
		"1": `font-weight="bold" fill="#ffffff"`, "2": `fill="#8fa0b0"`, "1;31": `font-weight="bold" fill="#ff7b72"`,
		"31": `fill="#e5786d"`, "32": `fill="#7fd18b"`, "33": `fill="#e0c060"`, "34": `fill="#4f8fdc"`, "35": `fill="#c78ae0"`, "36": `fill="#56c2c2"`,
		"37": `fill="#d7dee5"`, "90": `fill="#66788a"`, "92": `fill="#a6e3a1"`, "93": `fill="#f5e08a"`, "94": `fill="#8db8f0"`, "95": `fill="#e6a8f5"`,
	}
}

// drawLine turns one line's escape sequences into spans, each at its own place, so that a
// font with other widths moves nothing. Blocks become bars, for the same reason.
func drawLine(line string, top int) (bars, text string) {
	var rects, spans strings.Builder
	style, column := "", 0
	rest := line
	for rest != "" {
		part, code, after := rest, "", ""
		if at := regexp.MustCompile(`\x1b\[([0-9;]*)m`).FindStringSubmatchIndex(rest); at != nil {
			part, code, after = rest[:at[0]], rest[at[2]:at[3]], rest[at[1]:]
		}
		for _, word := range regexp.MustCompile(`█+|[^\s█]+(?: [^\s█]+)*`).FindAllStringIndex(part, -1) {
			x, text := margin+float64(column+lipgloss.Width(part[:word[0]]))*charWidth, part[word[0]:word[1]]
			if strings.HasPrefix(text, "█") {
				fmt.Fprintf(&rects, `<rect x="%.1f" y="%d" width="%.1f" height="%d" %s/>`+"\n", x, top+3, float64(lipgloss.Width(text))*charWidth, lineHeight-5, style)
				continue
			}
			fmt.Fprintf(&spans, `<tspan x="%.1f" %s>%s</tspan>`, x, style, html.EscapeString(text))
		}
		column += lipgloss.Width(part)
		style, rest = looks()[code], after
	}
	return rects.String(), spans.String()
}
