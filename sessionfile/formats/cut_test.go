package formats

import (
	"fmt"
	"strings"
	"testing"
)

// TestFileThatIsCutOff: a document that ends too early says where, and is not called a text.
func TestFileThatIsCutOff(t *testing.T) {
	whole := `{"info":{"id":"o","version":"1"},"messages":[
{"info":{"id":"1","role":"user"},"parts":[{"type":"text","text":"` + strings.Repeat("Dig. ", 20_000) + `"}]}]}`
	for _, text := range []string{whole, strings.ReplaceAll(whole, "\n", "")} {
		for _, n := range []int{30, 70, len(text) - 1} {
			_, err := Read("x.json", strings.NewReader(text[:n]))
			if want := fmt.Sprintf("JSON that ends at byte %d", n); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("cut at %d: want an error that says %q, got %v", n, want, err)
			}
		}
	}
	if _, err := Read("x.md", strings.NewReader("[notes] of a dig")); err == nil || !strings.Contains(err.Error(), "text that is not JSON") {
		t.Errorf("a text: want an error that calls it one, got %v", err)
	}
}
