package catalog

import (
	"slices"
	"strings"
)

// ImageRules say what an image costs a model, by the detail that a request asks
// for. A rule that is not stated is Auto.
type ImageRules struct {
	Auto                        ImageRule // where the request says nothing, or leaves it to the provider
	Low, Medium, High, Original ImageRule
}

// Tokens returns the tokens of an image of width x height pixels, rounded up. A side
// that is zero or negative is unknown, and so is a detail other than "low",
// "medium", "high" and "original", which counts as none.
func (r ImageRules) Tokens(width, height int, detail string) int {
	return r.of(detail).tokens(width, height)
}

// Page returns what a page of a document is taken to cost.
func (r ImageRules) Page() int { return r.Auto.Page }

func (r ImageRules) of(detail string) ImageRule {
	if p := r.by(detail); p != nil && *p != (ImageRule{}) {
		return *p
	}
	return r.Auto
}

// by returns the rule for a detail, nil if there is no such detail.
func (r *ImageRules) by(detail string) *ImageRule {
	switch detail {
	case "":
		return &r.Auto
	case "low":
		return &r.Low
	case "medium":
		return &r.Medium
	case "high":
		return &r.High
	case "original":
		return &r.Original
	}
	return nil
}

// An ImageRule says what an image costs. It is first scaled down to LongSide pixels
// along its long side and then to ShortSide along the short one (0: never); then each
// started cell of Cell x Cell pixels costs Num/Den tokens, and the whole image Plus
// tokens more. No more than Most cells count (0: all do); where Shrinks is set an
// image of more is made smaller until they cover it, which may take less than Most.
// Without a Cell every image costs Fallback.
type ImageRule struct {
	Cell, Num, Den, Plus int
	LongSide, ShortSide  int
	Most                 int
	Shrinks              bool
	Fallback             int // tokens of an image whose size is not known
	Page                 int // tokens of a page of a document
}

// maxSide keeps the arithmetic of absurd sizes in range; no provider takes an
// image of a million pixels a side.
const maxSide = 1 << 20

func (r ImageRule) tokens(width, height int) int {
	if width <= 0 || height <= 0 || r.Cell <= 0 || r.Den <= 0 {
		return r.Fallback
	}
	width, height = min(width, maxSide), min(height, maxSide)
	width, height = scaled(width, height, max(width, height), r.LongSide)
	width, height = scaled(width, height, min(width, height), r.ShortSide)
	return started(r.cells(width, height)*r.Num, r.Den) + r.Plus
}

// cells returns how many cells cover what is counted of an image.
func (r ImageRule) cells(width, height int) int {
	all := started(width, r.Cell) * started(height, r.Cell)
	switch {
	case r.Most == 0 || all <= r.Most:
		return all
	case !r.Shrinks:
		return r.Most
	}
	// The largest of the same shape that Most cells could cover, then smaller until
	// one side is a whole number of them.
	across, down := max(1, root(r.Most*width/height)), max(1, root(r.Most*height/width))
	if across*height <= down*width {
		return min(r.Most, across*started(height*across, width))
	}
	return min(r.Most, down*started(width*down, height))
}

// scaled returns the sides of an image one of whose sides, long now, is most pixels
// at most.
func scaled(width, height, long, most int) (int, int) {
	if most <= 0 || long <= most {
		return width, height
	}
	return max(1, width*most/long), max(1, height*most/long)
}

// root returns the square root of n, rounded down.
func root(n int) int {
	low, high := 0, 1
	for high*high <= n {
		high *= 2
	}
	for low+1 < high {
		if middle := (low + high) / 2; middle*middle <= n {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// started returns how many groups of size are begun by n.
func started(n, size int) int { return (n + size - 1) / size }

// An imageRules is what images.csv has under one name.
type imageRules struct {
	name string
	ImageRules
	models []string // beginnings of names
}

// imagesOf returns what images cost the model of that name, other if the table does
// not name it.
func (c Catalog) imagesOf(id string, other ImageRules) ImageRules {
	if m, ok := c.Lookup(id); ok {
		id = m.ID
	}
	best, length := other, 0
	c.undecorated(id, func(name string) bool {
		for _, r := range c.images {
			for _, text := range r.models {
				if len(text) > length && begins(name, text) {
					best, length = r.ImageRules, len(text)
				}
			}
		}
		return length > 0
	})
	return best
}

// readImages reads a line of images.csv: one detail of a rule.
func (c *Catalog) readImages(r *row) {
	rule := ImageRule{
		Cell: r.number(2), Num: r.number(3), Den: r.number(4), Plus: r.number(5), LongSide: r.number(6), ShortSide: r.number(7),
		Most: r.number(8), Shrinks: r.text(9) == "shrink", Fallback: r.number(10), Page: r.number(11),
	}
	if over := r.text(9); over != "" && over != "shrink" && over != "cut" || rule.Shrinks && rule.Most == 0 {
		r.fail("over", "shrink or cut where there is a most, else -", over)
	}
	name := r.text(0)
	at := slices.IndexFunc(c.images, func(i imageRules) bool { return i.name == name })
	if at < 0 {
		c.images, at = append(c.images, imageRules{name: name}), len(c.images)
	}
	to := c.images[at].by(r.text(1))
	if to == nil || *to != (ImageRule{}) {
		r.fail("detail", "low, medium, high, original or -, each once", r.text(1))
		return
	}
	*to = rule
	c.images[at].models = append(c.images[at].models, r.list(12)...)
}

// knownImages returns the rules that field i of r names.
func (c *Catalog) knownImages(r *row, i int) ImageRules {
	name := r.text(i)
	at := slices.IndexFunc(c.images, func(i imageRules) bool { return i.name == name })
	if at < 0 {
		r.fail("images", "a rule of images.csv", name)
		return ImageRules{}
	}
	return c.images[at].ImageRules
}

// begins reports whether a name begins with text, in which $ is the end of it.
func begins(name, text string) bool {
	return strings.HasPrefix(name+"$", text) || strings.HasPrefix(dashed(name), text)
}
