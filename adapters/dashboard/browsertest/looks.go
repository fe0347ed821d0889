package browsertest

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// A screen is a way in which a page is looked at.
type screen struct {
	name, scheme  string
	width, height int
}

var screens = []screen{{"light", "light", 1280, 800}, {"dark", "dark", 1280, 800}, {"phone", "light", 360, 740}}

var seen sync.Map // the names that were looked at

// Look checks how the page is in light, in dark and on a phone: that axe-core finds no violation of WCAG 2.2 A and AA, that nothing is
// wider than the screen, and that it looks as it did when its picture was kept. All three are one picture, a quarter as large, in the
// folder of looks. Pictures in full size go to the folder of the test's artifacts.
//
// A name is looked at once: a test that runs with several stores shows the same pages with each.
func (tab *Tab) Look(name string) {
	tab.t.Helper()
	if _, isSeen := seen.LoadOrStore(name, true); isSeen {
		return
	}
	var shown []image.Image
	for _, on := range screens {
		tab.check(chromedp.Do(tab.ctx, chromedp.EmulateViewport(int64(on.width), int64(on.height))))
		_, err := chromedp.Call(tab.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: on.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
			},
		})
		tab.check(err)
		tab.Wait("document.documentElement.dataset.looks === %q && innerWidth === %d", on.scheme, on.width)
		tab.Wait("document.getAnimations().length === 0")
		shown = append(shown, reduced(tab.shoot(filepath.Join(tab.t.ArtifactDir(), name+"_"+on.name+".png"))))
		if found := tab.axe(); found != "" {
			tab.t.Errorf("%s, %s: %s", name, on.name, found)
		}
		if wide := tab.Evaluate("String(document.documentElement.scrollWidth)"); wide != fmt.Sprint(on.width) {
			tab.t.Errorf("%s, %s: the page is %s wide", name, on.name, wide)
		}
	}
	tab.check(chromedp.Do(tab.ctx, chromedp.EmulateViewport(1280, 800)))
	tab.compare(name, shown)
}

// compare looks for what differs between the screens and the picture of them that was kept.
func (tab *Tab) compare(name string, shown []image.Image) {
	tab.t.Helper()
	file := filepath.Join(tab.at.Looks, name+".png")
	sheet, places := joined(shown)
	var wrong []string
	if text, err := os.ReadFile(file); err != nil { //nolint:gosec // a file of the test
		wrong = append(wrong, err.Error())
	} else {
		kept, err := png.Decode(bytes.NewReader(text))
		tab.check(err)
		for n, on := range screens {
			if differ, of := differing(kept, sheet, places[n]); float64(differ) > tolerance*float64(of) {
				wrong = append(wrong, fmt.Sprintf("%s, %s: %d of %d squares look otherwise than in %s", name, on.name, differ, of, file))
			}
		}
	}
	switch {
	case wrong == nil:
	case tab.at.Update:
		var encoded bytes.Buffer
		tab.check((&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&encoded, sheet))
		tab.check(os.MkdirAll(tab.at.Looks, 0o750))
		tab.check(os.WriteFile(file, encoded.Bytes(), 0o600))
	default:
		tab.t.Errorf("%s; if that is meant, -update keeps how it looks now", strings.Join(wrong, "; "))
	}
}

// Fonts, versions of the browser and values such as ids differ a little between runs and machines. What is compared is therefore the
// mean colour of squares of the picture that is kept, and some of these may differ.
const (
	reduction = 4    // pixels of the screen, in each direction, are one of the picture that is kept
	square    = 8    // pixels of that picture, in each direction, are compared as one
	contrast  = 14   // of 255, is a difference; a line of text makes 20 to 40
	tolerance = 0.08 // of the squares of a screen
)

// reduced is a picture a quarter as large in each direction, in 16 shades of each colour, which makes its file small.
func reduced(of image.Image) image.Image {
	size := of.Bounds().Size().Div(reduction)
	small := image.NewRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			r, g, b := mean(of, image.Rect(x*reduction, y*reduction, (x+1)*reduction, (y+1)*reduction))
			shade := func(level float64) uint8 { return uint8(math.Round(level/17) * 17) }
			small.SetRGBA(x, y, color.RGBA{shade(r), shade(g), shade(b), 255})
		}
	}
	return small
}

// mean is the mean colour of a part of a picture, in levels from 0 to 255.
func mean(of image.Image, part image.Rectangle) (r, g, b float64) {
	part = part.Intersect(of.Bounds())
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			red, green, blue, _ := of.At(x, y).RGBA()
			r, g, b = r+float64(red>>8), g+float64(green>>8), b+float64(blue>>8)
		}
	}
	n := float64(part.Dx() * part.Dy())
	return r / n, g / n, b / n
}

// joined puts pictures side by side, and tells where each is.
func joined(pictures []image.Image) (sheet *image.RGBA, places []image.Rectangle) {
	var size image.Point
	for _, p := range pictures {
		places = append(places, p.Bounds().Add(image.Pt(size.X, 0)))
		size = image.Pt(size.X+p.Bounds().Dx(), max(size.Y, p.Bounds().Dy()))
	}
	sheet = image.NewRGBA(image.Rectangle{Max: size})
	for n, p := range pictures {
		draw.Draw(sheet, places[n], p, image.Point{}, draw.Src)
	}
	return sheet, places
}

// differing counts the squares of a part of two pictures, and those that differ.
func differing(a, b image.Image, part image.Rectangle) (differ, of int) {
	for y := part.Min.Y; y < part.Max.Y; y += square {
		for x := part.Min.X; x < part.Max.X; x += square {
			here := image.Rect(x, y, x+square, y+square).Intersect(part)
			r, g, b2 := mean(a, here)
			r2, g2, b3 := mean(b, here)
			of++
			if max(math.Abs(r-r2), math.Abs(g-g2), math.Abs(b2-b3)) > contrast {
				differ++
			}
		}
	}
	return differ, of
}
