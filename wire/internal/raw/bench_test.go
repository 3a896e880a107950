package raw

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// texts are insides of string literals, not periodic, so that nothing learns them.
func texts() map[string]string {
	pieces := map[string][]string{
		"plain": {"the quick brown fox ", "jumps over ", "the lazy dog, ", "and then it sleeps in the shade of the tree. "},
		"code":  {`\n`, `\n\t`, `\n\t\t`, `\"name\"`, "if err := run(ctx); ", "err != nil {", "return err", "}", "// it comes back later", "x := 0"},
	}
	out := map[string]string{}
	for name, list := range pieces {
		r := rand.New(rand.NewPCG(1, 2))
		var b strings.Builder
		for b.Len() < 200_000 {
			b.WriteString(list[r.IntN(len(list))])
		}
		out[name] = b.String()
	}
	return out
}

func BenchmarkUnquote(b *testing.B) {
	for name, text := range texts() {
		b.Run(name, func(b *testing.B) {
			lit := []byte(`"` + text + `"`)
			b.SetBytes(int64(len(lit)))
			for b.Loop() {
				Unquote(lit)
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	for name, text := range texts() {
		body := []byte(`{"a":["` + text + `"]}`)
		for impl, valid := range map[string]func([]byte) bool{"ours": validText, "gjson": gjson.ValidBytes} {
			b.Run(name+"/impl="+impl, func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				for b.Loop() {
					if !valid(body) {
						b.Fatal("not valid")
					}
				}
			})
		}
	}
}
