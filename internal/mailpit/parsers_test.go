package mailpit_test

import (
	"bytes"
	"image"
	"image/color"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/mailpit"
)

func FuzzMailHogParts(f *testing.F) {
	f.Add([]byte("Subject: x\r\n\r\nbody"))
	f.Add([]byte("Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\nx\r\n--c--\r\n--b--\r\n"))
	f.Add([]byte("Content-Type: multipart/mixed; boundary=\"\"\r\n\r\n----\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if depth, parts := mailpit.Depth(data); depth > mailpit.DepthMax || parts > mailpit.PartsMax {
			t.Errorf("%d levels, %d parts", depth, parts)
		}
	})
}

func FuzzWebSocketFrames(f *testing.F) {
	f.Add([]byte{0x89, 0x81, 1, 2, 3, 4, 'x', 0x88, 0x80, 0, 0, 0, 0})
	f.Add([]byte{0x81, 0xfe, 0x10, 0x00, 0, 0, 0, 0})
	f.Add([]byte{0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		if frames, octets := mailpit.Frames(data); octets > len(data) || octets > frames*mailpit.FrameMax {
			t.Errorf("%d octets in %d frames of %d octets", octets, frames, len(data))
		}
	})
}

func TestHostilePartsAreBounded(t *testing.T) {
	nested := "x"
	for range 100 {
		nested = "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n" + nested
	}
	many := "Content-Type: multipart/mixed; boundary=b\r\n\r\n" + strings.Repeat("--b\r\n\r\nx\r\n", 5000)
	for _, data := range []string{nested, many} {
		if depth, parts := mailpit.Depth([]byte(data)); depth > mailpit.DepthMax || parts > mailpit.PartsMax {
			t.Errorf("%d levels, %d parts", depth, parts)
		}
	}
	if frames, _ := mailpit.Frames(bytes.Repeat([]byte{0x81, 0x01, 'x'}, 3)); frames != 0 {
		t.Error("a frame without a mask was read")
	}
}

func TestPrivateHosts(t *testing.T) {
	for host, private := range map[string]bool{
		"localhost": true, "localhost:8025": true, "LOCALHOST.": true, "box.localhost:8025": true, "mailpit": true, "127.0.0.1:8025": true, "[::1]:8025": true, "": true,
		"host.docker.internal:8025": true, "gonebox.test": true, "evil.example.com": false, "evil.example.com.:80": false, "localhost.evil.com": false, "127.0.0.1.nip.io": false,
	} {
		if mailpit.IsPrivateHost(host) != private {
			t.Errorf("%q: %v", host, !private)
		}
	}
}

// A frame of a GIF may be empty although the image is not: image.Decode then returns a picture without pixels.
func TestThumbnailOfEmptyPicture(t *testing.T) {
	for _, size := range []image.Point{{0, 1}, {1, 0}, {0, 0}} {
		picture := image.NewPaletted(image.Rectangle{Max: size}, color.Palette{color.Black})
		if got := mailpit.Scaled(picture, size); got.Bounds() != image.Rect(0, 0, 180, 120) {
			t.Errorf("the thumbnail of a picture of %v is %v", size, got.Bounds())
		} else if c := color.GrayModel.Convert(got.At(90, 60)); c != (color.Gray{255}) {
			t.Errorf("the thumbnail of a picture of %v is %v and not white", size, c)
		}
	}
}
