package bpe

import (
	"encoding/binary"
	"fmt"
	"testing"
)

func TestParts(t *testing.T) {
	e, _ := Load("o200k_base")
	for _, k := range []string{"prose", "go", "json", "c1"} {
		var s string
		if k[0] == 'c' && len(k) == 2 {
			s = corpusText(int(k[1] - '0'))
		} else {
			s = generate(k, 750000)
		}
		b := []byte(s)
		np, ng := 0, 0
		a := best(30, func() {
			np, ng = 0, 0
			for i := 0; i+8 < len(b); {
				if n := e.pattern.plain(binary.LittleEndian.Uint64(b[i:])); n > 0 {
					i += n
					np++
				} else {
					i = e.pattern.next(b, i)
					ng++
				}
			}
		})
		g := best(30, func() {
			for i := 0; i < len(b); {
				i = e.pattern.next(b, i)
			}
		})
		x := 0
		type pc struct{ i, j int }
		var ps []pc
		for i := 0; i < len(b); {
			j := e.pattern.next(b, i)
			ps = append(ps, pc{i, j})
			i = j
		}
		f := best(30, func() {
			for _, p := range ps {
				if e.vocab.find(b, p.i, p.j) != none {
					x++
				}
			}
		})
		var miss []pc
		for _, p := range ps {
			if e.vocab.find(b, p.i, p.j) == none {
				miss = append(miss, p)
			}
		}
		sc := e.scratch()
		m := best(30, func() {
			for _, p := range miss {
				x += e.countPiece(sc, b, p.i, p.j)
			}
		})
		m2 := best(30, func() {
			for _, p := range miss {
				x += len(e.vocab.merge(sc, b, p.i, p.j))
			}
		})
		c := best(30, func() { e.Count(s) })
		n := float64(len(ps))
		fmt.Printf("%s pieces %.0f plain %d general %d split %.1f ns/piece (next only %.1f) find %.1f  countPiece %.1f ns/piece %.1f ns/miss merge %.1f ns/miss  count %.1f  (%d %d)\n", k, n, np, ng, float64(a.Nanoseconds())/n, float64(g.Nanoseconds())/n, float64(f.Nanoseconds())/n, float64(m.Nanoseconds())/n, float64(m.Nanoseconds())/float64(len(miss)), float64(m2.Nanoseconds())/float64(len(miss)), float64(c.Nanoseconds())/n, len(miss), x&1)
	}
}
