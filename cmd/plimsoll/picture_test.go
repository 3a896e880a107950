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
)

// pictureCommand is what docs/replay.svg shows.
const pictureCommand = "plimsoll replay examples/session.jsonl --policy off --policy balanced --window 50%"

// TestPicture checks that docs/replay.svg shows what the program prints, in its colours.
// With -update it is drawn again.
func TestPicture(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sh", "-c", pictureCommand)
	cmd.Dir = workFolder(t)
	cmd.Env = append(os.Environ(), "NO_COLOR=", "CLICOLOR_FORCE=1", "TERM=xterm", "COLORTERM=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := draw("$ " + pictureCommand + "\n" + string(out))
	path := filepath.Join(repo, "docs", "replay.svg")
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil { //nolint:gosec // a public picture
			t.Fatal(err)
		}
		return
	}
	if read(t, path) != want {
		t.Errorf("%s does not show what %s prints; go test ./cmd/plimsoll -run TestPicture -update draws it again", path, pictureCommand)
	}
}

// The picture's measures, in pixels.
const (
	charWidth  = 8.4
	lineHeight = 20
	margin     = 18
)

// draw writes a terminal's content as SVG. It knows the escape sequences that the
// program uses: bold, faint, red, green.
func draw(screen string) string {
	lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
	width := 0
	for _, l := range lines {
		width = max(width, lipgloss.Width(strip(l)))
	}
	var b strings.Builder
	w, h := float64(width)*charWidth+2*margin, len(lines)*lineHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" role="img" aria-label="%s">`+"\n",
		w, h, w, h, html.EscapeString("What "+pictureCommand+" prints"))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="#16202a"/>`+"\n")
	fmt.Fprintf(&b, `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" fill="#d7dee5" xml:space="preserve">`+"\n")
	for i, l := range lines {
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", margin, margin+lineHeight*i+15, drawLine(l))
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// drawLine turns one line's escape sequences into spans, each at its own place, so that a
// font with other widths moves nothing.
func drawLine(line string) string {
	look := map[string]string{
		"1": `font-weight="bold" fill="#ffffff"`, "2": `fill="#8fa0b0"`, "32": `fill="#7fd18b"`, "1;31": `font-weight="bold" fill="#ff7b72"`,
	}
	var b strings.Builder
	style, column := "", 0
	rest := line
	for rest != "" {
		text, code, after := rest, "", ""
		if at := regexp.MustCompile(`\x1b\[([0-9;]*)m`).FindStringSubmatchIndex(rest); at != nil {
			text, code, after = rest[:at[0]], rest[at[2]:at[3]], rest[at[1]:]
		}
		for _, word := range regexp.MustCompile(`\S+(?: \S+)*`).FindAllStringIndex(text, -1) {
			x := margin + float64(column+lipgloss.Width(text[:word[0]]))*charWidth
			fmt.Fprintf(&b, `<tspan x="%.1f" %s>%s</tspan>`, x, style, html.EscapeString(text[word[0]:word[1]]))
		}
		column += lipgloss.Width(text)
		style, rest = look[code], after
	}
	return b.String()
}
