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

const (
	thumbWidth, thumbHeight = 180, 120 // pixels, as in Mailpit
	pixelsMax               = 16 << 20 // of an image that is decoded: a small file can contain a huge image
	pixelOctets             = 8        // the most octets of memory that a pixel takes
)

// thumbnail responds with a small JPEG of an attachment that is a GIF, JPEG or PNG image, and with a white one if it is
// anything else or has more than pixelsMax pixels. It reads the size from the header of the image and reserves the memory
// before it decodes the image.
func (a *API) thumbnail(w http.ResponseWriter, r *http.Request) {
	_, content, err := a.openAttachment(r)
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
	_ = jpeg.Encode(w, scaled(picture, size), nil) // fails only if the client has disconnected
}

// scaled returns a thumbnail of a picture, which is scaled by nearest-neighbour sampling and centred on white. A picture
// without pixels gives a white thumbnail: the first frame of a GIF may be empty although the image is not.
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

// onWhite returns a colour, which may be transparent, blended with a white background.
func onWhite(c color.Color) color.Color {
	const opaque = 0xffff
	r, g, b, alpha := c.RGBA()
	white := opaque - alpha
	return color.RGBA64{R: uint16(r + white), G: uint16(g + white), B: uint16(b + white), A: opaque}
}
