package browsertest

import (
	"image"
	"image/color"
	"image/draw"
	"testing"
)

// screenshot draws a page of a phone: lines of text, and a bar at its lower edge.
func screenshot(offset int, ink color.Color, bar bool) image.Image {
	page := image.NewRGBA(image.Rect(0, 0, 360, 740))
	draw.Draw(page, page.Bounds(), image.White, image.Point{}, draw.Src)
	for y := 40; y < 600; y += 40 {
		for x := 20 + offset; x < 300; x += 7 { // the strokes of letters
			draw.Draw(page, image.Rect(x, y, x+2, y+12), image.NewUniform(ink), image.Point{}, draw.Src)
		}
	}
	if bar {
		draw.Draw(page, image.Rect(0, 680, 360, 740), image.NewUniform(color.Gray{200}), image.Point{}, draw.Src)
	}
	return page
}

func TestPicturesOfOnePageAreAlikeAndOthersAreNot(t *testing.T) {
	kept := reduced(screenshot(0, color.Black, true))
	for name, c := range map[string]struct {
		page    image.Image
		isAlike bool
	}{
		"the same":         {screenshot(0, color.Black, true), true},
		"another font":     {screenshot(3, color.Gray{40}, true), true},
		"no bar":           {screenshot(0, color.Black, false), false},
		"text is not seen": {screenshot(0, color.White, true), false},
	} {
		differ, of := differing(kept, reduced(c.page), kept.Bounds())
		if isAlike := float64(differ) <= tolerance*float64(of); isAlike != c.isAlike {
			t.Errorf("%s: %d of %d squares differ", name, differ, of)
		}
	}
}
