//go:build ignore

// Command shrink writes a screenshot from standard input to standard output as a PNG with a
// palette: the most frequent colours, and for all others the nearest of them.
package main

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"slices"
)

const mostColours = 64

func main() {
	if err := shrink(); err != nil {
		fmt.Fprintln(os.Stderr, "shrink:", err)
		os.Exit(1)
	}
}

func shrink() error {
	picture, err := png.Decode(os.Stdin)
	if err != nil {
		return err
	}
	b := picture.Bounds()
	found := map[color.RGBA]int{}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			found[at(picture, x, y)]++
		}
	}
	frequent := slices.SortedFunc(maps.Keys(found), func(p, q color.RGBA) int {
		return cmp.Or(found[q]-found[p], int(p.R)-int(q.R), int(p.G)-int(q.G), int(p.B)-int(q.B))
	})
	var palette color.Palette
	for _, c := range frequent[:min(len(frequent), mostColours)] {
		palette = append(palette, c)
	}
	out := image.NewPaletted(b, palette)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			out.Set(x, y, at(picture, x, y))
		}
	}
	return (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(os.Stdout, out)
}

func at(picture image.Image, x, y int) color.RGBA {
	return color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA)
}
