package inspect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/inspect"
)

// BenchmarkSession shows that the work grows with the session and not with its
// square: ten times the Steps take about ten times the time.
func BenchmarkSession(b *testing.B) {
	for _, steps := range []int{500, 5_000} {
		b.Run(fmt.Sprint(steps), func(b *testing.B) {
			l := newLog()
			l.human("Read all logs.")
			for i := range steps {
				id := fmt.Sprint("c", i)
				l.reply(cached(10_000+i*300, 300), call(id, "read", fmt.Sprintf(`{"path":"log-%d"}`, i)))
				l.result(id, strings.Repeat(fmt.Sprintf("line %d of a log\n", i), 40))
			}
			o := withShip(b)
			b.ResetTimer()
			for b.Loop() {
				if _, err := inspect.Session(&l.s, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
