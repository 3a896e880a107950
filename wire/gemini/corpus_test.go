package gemini

import (
	"os"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/recording"
)

// corpus returns the recorded calls of this dialect.
func corpus(t *testing.T) []recording.Exchange {
	t.Helper()
	root := os.Getenv("PLIMSOLL_CORPUS")
	if root == "" {
		t.Skip("PLIMSOLL_CORPUS is not set")
	}
	all, err := recording.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	var own []recording.Exchange
	for _, x := range all {
		if x.Dialect == Dialect {
			own = append(own, x)
		}
	}
	if len(own) == 0 {
		t.Fatal("corpus: want calls of this dialect, got none")
	}
	return own
}
