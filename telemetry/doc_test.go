package telemetry_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

const repo = ".."

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(repo, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestDocGo: the Go code of docs/telemetry.md is code of the file that its block names,
// which is compiled and run.
func TestDocGo(t *testing.T) {
	blocks := regexp.MustCompile("(?ms)^```go (\\S+)\n(.*?)^```$").FindAllStringSubmatch(read(t, "docs/telemetry.md"), -1)
	if len(blocks) < 2 {
		t.Errorf("%d blocks, want one for Prometheus and one for OTLP", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(squeeze(read(t, b[1])), squeeze(b[2])) {
			t.Errorf("this is not in %s:\n%s", b[1], b[2])
		}
	}
}

// squeeze leaves out indentation.
func squeeze(code string) string {
	lines := strings.Split(code, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// TestDocTable: the page's table has a row for each metric, with its kind, unit and
// attributes.
func TestDocTable(t *testing.T) {
	var told []string
	for line := range strings.Lines(read(t, "docs/telemetry.md")) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| `") && len(cells) == 5 {
			told = append(told, strings.Join(append([]string{strings.TrimPrefix(cells[0], "| "), cells[1], cells[2]}, attributesIn(cells[3])...), " "))
		}
	}
	g := gather(t, zero)
	everything(t, g)
	var measured []string
	for name, m := range g.metrics(t) {
		var keys []string
		for _, p := range points(t, m) {
			for _, a := range p.attributes.ToSlice() {
				keys = append(keys, "`"+string(a.Key)+"`")
			}
		}
		slices.Sort(keys)
		measured = append(measured, strings.Join(append([]string{"`" + name + "`", kind(m), "`" + m.Unit + "`"}, slices.Compact(keys)...), " "))
	}
	slices.Sort(told)
	slices.Sort(measured)
	if diff := cmp.Diff(measured, told); diff != "" {
		t.Errorf("- measured, + on the page\n%s", diff)
	}
}

func attributesIn(cell string) []string {
	out := regexp.MustCompile("`[^`]+`").FindAllString(cell, -1)
	slices.Sort(out)
	return out
}

func kind(m metricdata.Metrics) string {
	switch m.Data.(type) {
	case metricdata.Gauge[int64]:
		return "gauge"
	case metricdata.Histogram[int64]:
		return "histogram"
	}
	return "counter"
}
