package mailpit_test

import (
	"bytes"
	"image"
	"image/color"
	"io"
	"mime/multipart"
	"reflect"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/mailpit"
)

func FuzzMailHogParts(f *testing.F) {
	f.Add([]byte("Subject: x\r\n\r\nbody"))
	f.Add([]byte("Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\nx\r\n--c--\r\n--b--\r\n"))
	f.Add([]byte("Content-Type: multipart/mixed; boundary=\"\"\r\n\r\n----\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if depth, parts, octets := mailpit.Depth(data); depth > mailpit.DepthMax || parts > mailpit.PartsMax || octets > mailpit.BodiesMax*len(data) {
			t.Errorf("Depth(%q) = %d levels, %d parts and %d octets, want at most %d, %d and %d", data, depth, parts, octets, mailpit.DepthMax, mailpit.PartsMax, mailpit.BodiesMax*len(data))
		}
	})
}

// The parts are those that the standard library finds.
func TestMailHogPartsAreThoseOfTheStandard(t *testing.T) {
	for _, lines := range []string{
		"preamble|--b|A: 1|A: 2|B: folded|  value||body|--b|| no header|--b--|epilogue",
		"--b|A: 1||body||--b  |C: 3||--bx|--b-- |",
		"--b|A: 1||unfinished|body",
		"--b|A: 1||empty next|--b||--b--",
		"no part",
		"--b--",
	} {
		body := strings.ReplaceAll(lines, "|", "\r\n")
		var want []mailpit.HogPart
		for r := multipart.NewReader(strings.NewReader(body), "b"); ; {
			p, err := r.NextRawPart()
			if err != nil {
				break
			}
			content, _ := io.ReadAll(p)
			want = append(want, mailpit.HogPart{Header: p.Header, Body: string(content)})
		}
		if got := mailpit.HogParts("Content-Type: multipart/mixed; boundary=b\r\n\r\n" + body); !reflect.DeepEqual(got, want) {
			t.Errorf("the parts of %q are %q, want %q", lines, got, want)
		}
	}
}

func FuzzWebSocketFrames(f *testing.F) {
	f.Add([]byte{0x89, 0x81, 1, 2, 3, 4, 'x', 0x88, 0x80, 0, 0, 0, 0})
	f.Add([]byte{0x81, 0xfe, 0x10, 0x00, 0, 0, 0, 0})
	f.Add([]byte{0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		if frames, octets := mailpit.Frames(data); octets > len(data) || octets > frames*mailpit.FrameMax {
			t.Errorf("Frames of %d octets = %d frames with %d octets, want no more octets than those and than %d for each frame", len(data), frames, octets, mailpit.FrameMax)
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
		if depth, parts, octets := mailpit.Depth([]byte(data)); depth > mailpit.DepthMax || parts > mailpit.PartsMax || octets > mailpit.BodiesMax*len(data) {
			t.Errorf("Depth(%.60q…) = %d levels, %d parts and %d octets, want at most %d, %d and %d", data, depth, parts, octets, mailpit.DepthMax, mailpit.PartsMax, mailpit.BodiesMax*len(data))
		}
	}
	if frames, _ := mailpit.Frames(bytes.Repeat([]byte{0x81, 0x01, 'x'}, 3)); frames != 0 {
		t.Errorf("Frames of frames without a mask = %d, want 0", frames)
	}
}

// A frame of a GIF may be empty although the image is not: image.Decode then returns a picture without pixels.
func TestThumbnailOfEmptyPicture(t *testing.T) {
	for _, size := range []image.Point{{0, 1}, {1, 0}, {0, 0}} {
		picture := image.NewPaletted(image.Rectangle{Max: size}, color.Palette{color.Black})
		if got := mailpit.Scaled(picture, size); got.Bounds() != image.Rect(0, 0, 180, 120) {
			t.Errorf("the thumbnail of a picture of %v has the bounds %v, want 180 by 120", size, got.Bounds())
		} else if c := color.GrayModel.Convert(got.At(90, 60)); c != (color.Gray{255}) {
			t.Errorf("the thumbnail of a picture of %v is %v in its middle, want white", size, c)
		}
	}
}
