package web_test

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
)

type rgb [3]float64 // linear light, 0 to 1

// palette reads the colours of the style sheets: name, then light and dark.
func palette(t *testing.T) map[string][2]rgb {
	t.Helper()
	out := map[string][2]rgb{}
	for _, file := range []string{"assets/page.css", "assets/chart.css"} {
		css, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`--([a-z-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\)`).FindAllStringSubmatch(string(css), -1) {
			out[m[1]] = [2]rgb{colour(t, m[2]), colour(t, m[3])}
		}
	}
	return out
}

func colour(t *testing.T, hex string) rgb {
	t.Helper()
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	var out rgb
	for i := range out {
		c := float64(n>>(16-8*i)&255) / 255
		if out[i] = c / 12.92; c > 0.04045 {
			out[i] = math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return out
}

// contrast is WCAG 2.2's contrast ratio.
func contrast(a, b rgb) float64 {
	l := func(c rgb) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] + 0.05 }
	return max(l(a)/l(b), l(b)/l(a))
}

// seen simulates how a colour looks without the cones for red, green or blue: Viénot, Brettel and Mollon (1999) for the first
// two; the last as in the same LMS space with the neutral axis kept.
func seen(c rgb, kind string) rgb {
	l := 17.8824*c[0] + 43.5161*c[1] + 4.11935*c[2]
	m := 3.45565*c[0] + 27.1554*c[1] + 3.86714*c[2]
	s := 0.0299566*c[0] + 0.184309*c[1] + 1.46709*c[2]
	switch kind {
	case "protanopia":
		l = 2.02344*m - 2.52581*s
	case "deuteranopia":
		m = 0.494207*l + 1.24827*s
	case "tritanopia":
		s = -0.395913*l + 0.801109*m
	}
	return rgb{
		max(0, 0.080944*l-0.130504*m+0.116721*s), max(0, -0.0102485*l+0.0540194*m-0.113615*s), max(0, -0.000365294*l-0.00412163*m+0.693513*s),
	}
}

// difference is the distance of two colours in OKLab times 100; about 2 can just be told apart.
func difference(a, b rgb) float64 {
	lab := func(c rgb) [3]float64 {
		l := math.Cbrt(0.4122214708*c[0] + 0.5363325363*c[1] + 0.0514459929*c[2])
		m := math.Cbrt(0.2119034982*c[0] + 0.6806995451*c[1] + 0.1073969566*c[2])
		s := math.Cbrt(0.0883024619*c[0] + 0.2817188376*c[1] + 0.6299787005*c[2])
		return [3]float64{
			0.2104542553*l + 0.7936177850*m - 0.0040720468*s, 1.9779984951*l - 2.4285922050*m + 0.4505937099*s, 0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
		}
	}
	x, y := lab(a), lab(b)
	return 100 * math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2])
}

// TestPalette: texts have 4.5:1 and contents 3:1 against what they stand on (WCAG 2.2, 1.4.3
// and 1.4.11), and contents that lie on one another can be told apart without one kind of cone.
func TestPalette(t *testing.T) {
	p := palette(t)
	contents := []string{"hidden", "system", "tools", "summary", "notes", "human", "model", "thinking", "calls", "outputs", "stubs", "media"}
	for theme, name := range []string{"light", "dark"} {
		t.Run(name, func(t *testing.T) {
			check := func(front, back string, want float64) {
				f, okf := p[front]
				b, okb := p[back]
				if !okf || !okb {
					t.Fatalf("no colour %s or %s", front, back)
				}
				if got := contrast(f[theme], b[theme]); got < want {
					t.Errorf("%s on %s: contrast %.2f, want %.1f", front, back, got, want)
				}
			}
			for _, text := range []string{"ink", "muted", "accent", "bad", "limit"} {
				for _, back := range []string{"bg", "surface", "soft"} {
					check(text, back, 4.5)
				}
			}
			check("surface", "accent", 4.5)
			check("edge", "surface", 3)
			check("edge", "bg", 3)
			for i, content := range contents {
				check("c-"+content, "surface", 3)
				for _, above := range contents[i+1 : min(i+3, len(contents))] { // one of them may be absent
					for _, kind := range []string{"", "protanopia", "deuteranopia", "tritanopia"} {
						if d := difference(seen(p["c-"+content][theme], kind), seen(p["c-"+above][theme], kind)); d < 8 {
							t.Errorf("%s", fmt.Sprintf("%s beneath %s, %s: difference %.1f, want 8", content, above, kind, d))
						}
					}
				}
			}
		})
	}
}
