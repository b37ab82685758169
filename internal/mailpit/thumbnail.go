package mailpit

import (
	"bytes"
	"image"
	"image/color"
	_ "image/gif" // for image.Decode
	"image/jpeg"
	_ "image/png" // for image.Decode
	"io"
	"net/http"

	"github.com/gonebox/gonebox/internal/budget"
)

// The size of a thumbnail, and the largest image of which one is made.
const (
	// These are the size of Mailpit's thumbnails, and bounds of what is decoded: a small file can contain a huge image.
	thumbWidth, thumbHeight = 180, 120
	pixelsMax               = 16 << 20
	pixelOctets             = 8
)

// thumbnail answers with a small JPEG of an image, or a white one for what is no image. Formats other than GIF, JPEG
// and PNG count as no image. The size is read from the image's header before it is decoded.
func (a *API) thumbnail(w http.ResponseWriter, r *http.Request) {
	_, content, err := a.open(r)
	var octets []byte
	if err == nil {
		octets, err = io.ReadAll(content)
	}
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	var picture image.Image = image.NewUniform(color.White)
	size := image.Pt(thumbWidth, thumbHeight)
	if c, _, err := image.DecodeConfig(bytes.NewReader(octets)); err == nil && c.Width > 0 && c.Height > 0 && c.Width <= pixelsMax/c.Height {
		if err := a.kit.Reserve(r.Context(), budget.Response, int64(c.Width)*int64(c.Height)*pixelOctets); err != nil {
			a.respondError(w, r, err)
			return
		}
		if decoded, _, err := image.Decode(bytes.NewReader(octets)); err == nil {
			picture, size = decoded, decoded.Bounds().Size()
		}
	}
	w.Header().Set("Content-Type", "image/jpeg")
	_ = jpeg.Encode(w, scaled(picture, size), nil) // fails only where the client is gone
}

// scaled fits a picture of a size into a thumbnail on white, by the nearest pixel. A picture without pixels gives a white
// one: the first frame of a GIF may be empty, although the image itself is not.
func scaled(picture image.Image, size image.Point) image.Image {
	if size.X <= 0 || size.Y <= 0 {
		picture, size = image.NewUniform(color.White), image.Pt(thumbWidth, thumbHeight)
	}
	out := image.NewRGBA(image.Rect(0, 0, thumbWidth, thumbHeight))
	w, h := thumbWidth, thumbWidth*size.Y/size.X
	if h > thumbHeight {
		w, h = thumbHeight*size.X/size.Y, thumbHeight
	}
	w, h = max(w, 1), max(h, 1)
	left, top, from := (thumbWidth-w)/2, (thumbHeight-h)/2, picture.Bounds().Min
	if _, uniform := picture.(*image.Uniform); uniform {
		from = image.Point{}
	}
	for y := range thumbHeight {
		for x := range thumbWidth {
			c := color.Color(color.White)
			if x >= left && x < left+w && y >= top && y < top+h {
				c = onWhite(picture.At(from.X+(x-left)*size.X/w, from.Y+(y-top)*size.Y/h))
			}
			out.Set(x, y, c)
		}
	}
	return out
}

// onWhite returns a colour, which may be transparent, in front of white.
func onWhite(c color.Color) color.Color {
	const full = 0xffff
	r, g, b, alpha := c.RGBA()
	rest := full - alpha
	return color.RGBA64{R: uint16(r + rest), G: uint16(g + rest), B: uint16(b + rest), A: full}
}
