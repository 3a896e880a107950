package raw

import (
	"strings"
	"testing"
)

func BenchmarkUnquote(b *testing.B) {
	for _, x := range []struct{ name, piece string }{
		{"plain", "the quick brown fox jumps over the lazy dog "},
		{"code", `\tif err := run(ctx, \"name\"); err != nil {\n\t\treturn err\n\t}\n`},
	} {
		b.Run(x.name, func(b *testing.B) {
			lit := []byte(`"` + strings.Repeat(x.piece, 2000) + `"`)
			b.SetBytes(int64(len(lit)))
			for b.Loop() {
				Unquote(lit)
			}
		})
	}
}
