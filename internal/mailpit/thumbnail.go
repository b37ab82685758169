package mailpit

import (
	"bufio"
	"context"
	"errors"
	"image"
	"image/color"
	"io"
	"net/http"
	"strconv"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/message"
)

const thumbWidth, thumbHeight = 180, 120 // pixels, as in Mailpit

// thumbnail responds with a small JPEG of an attachment that is a GIF, JPEG or PNG picture, and with a white one if it is
// anything else or if decoding it would take too much (measure). The API makes one thumbnail at a time. The picture is read
// twice, so that its memory is reserved before it is decoded, and decoding ends when the client disconnects.
func (a *API) thumbnail(w http.ResponseWriter, r *http.Request) {
	octets, err := a.makeThumbnail(r)
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "image/jpeg")
	w.Header().Set("Content-Length", strconv.Itoa(len(octets)))
	_, _ = w.Write(octets) //nolint:gosec // a JPEG that was made here; it fails only if the client has disconnected
}

// makeThumbnail returns the thumbnail of the attachment that the path names. Errors: those of findAttachment and openPicture, and
// that of the request's context.
func (a *API) makeThumbnail(r *http.Request) ([]byte, error) {
	ctx := r.Context()
	select {
	case a.thumbnails <- struct{}{}:
		defer func() { <-a.thumbnails }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	full, index, err := a.findAttachment(r)
	if err != nil {
		return nil, err
	}
	defer a.kit.Release(ctx)
	content, err := a.openPicture(ctx, full, index)
	if err == nil {
		var picture image.Image
		if picture, _, err = image.Decode(bufio.NewReader(content)); err == nil {
			return encodeThumbnail(picture, picture.Bounds().Size()), nil
		}
		if ctx.Err() == nil {
			err = errNoPicture
		}
	}
	if errors.Is(err, errNoPicture) {
		return encodeThumbnail(image.NewUniform(color.White), image.Pt(thumbWidth, thumbHeight)), nil
	}
	return nil, err
}

// openPicture opens a picture that is an attachment, with the memory to decode it. Errors: errNoPicture,
// attachment.not_retained, server.unavailable, and that of ctx.
func (a *API) openPicture(ctx context.Context, full *message.Original, index int) (io.Reader, error) {
	_, content, err := full.Open(ctx, index)
	if err != nil {
		return nil, err
	}
	octets, err := measure(untilDone{ctx, content})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if octets += full.TextSize(); err != nil || octets > a.HTTP.Memory.Most() {
		return nil, errNoPicture
	}
	a.kit.Release(ctx) // what reading the message took; it must not be held while the call waits for more
	if err := a.kit.Reserve(ctx, budget.Response, octets); err != nil {
		return nil, err
	}
	_, content, err = full.Open(ctx, index)
	return untilDone{ctx, content}, err
}

// untilDone reads until ctx is done.
type untilDone struct {
	ctx  context.Context
	from io.Reader
}

// Read is io.Reader.Read. Error: that of the context.
func (r untilDone) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
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
