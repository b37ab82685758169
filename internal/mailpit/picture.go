package mailpit

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	_ "image/gif" // for image.Decode
	"image/jpeg"
	_ "image/png" // for image.Decode
	"io"
	"slices"
)

// Bounds of a picture that is decoded. A small file can contain a huge picture, and a small JPEG can have thousands of
// scans, each of which is a pass over the whole picture.
const (
	pixelsMax = 4 << 20
	scansMax  = 10
)

// errNoPicture means that a file is not a GIF, JPEG or PNG picture, or that decoding it takes too much.
var errNoPicture = errors.New("not a picture that is decoded")

// measure reads a picture and returns how many octets of memory image.Decode takes for it, as an upper bound. It keeps
// nothing of the picture. Error: errNoPicture.
func measure(picture io.Reader) (octets int64, err error) {
	const (
		jpegMagic = "\xff\xd8"
		constant  = 128 << 10 // tables and buffers of the decoders
	)
	r := bufio.NewReader(picture)
	if magic, _ := r.Peek(len(jpegMagic)); string(magic) == jpegMagic {
		octets, err = measureJPEG(r)
	} else {
		octets, err = measureOther(r)
	}
	if err != nil {
		return 0, errNoPicture
	}
	return constant + octets, nil
}

// area returns the number of pixels of a picture. Error: errNoPicture if it has none, or too many.
func area(width, height int) (int64, error) {
	if width <= 0 || height <= 0 || width > pixelsMax/height {
		return 0, errNoPicture
	}
	return int64(width) * int64(height), nil
}

// measureOther is measure for a GIF or PNG picture. A decoder of PNG holds the picture and two rows of it, and if it is
// interlaced also each of its passes, which together are as large; one of GIF, whose pixels have an octet each, holds an
// interlaced picture twice.
func measureOther(r *bufio.Reader) (int64, error) {
	const (
		header    = 29 // octets of the signature and IHDR (W3C PNG §11.2.1) up to the interlace method, which is the last one
		interlace = header - 1
	)
	begin, _ := r.Peek(header)
	begin = bytes.Clone(begin)
	c, format, err := image.DecodeConfig(r)
	if err != nil {
		return 0, err
	}
	pixels, err := area(c.Width, c.Height)
	if err != nil {
		return 0, err
	}
	if format != "png" || len(begin) < header {
		return 2 * pixels, nil
	}
	each := pngPixel(c.ColorModel)
	octets := pixels * each
	if begin[interlace] != 0 {
		octets *= 2
	}
	return octets + 2*int64(c.Width)*each, nil
}

// pngPixel returns how many octets a pixel of a decoded PNG picture has. A grey picture may have a transparent colour, and
// then becomes a coloured one.
func pngPixel(m color.Model) int64 {
	switch m {
	case color.GrayModel, color.RGBAModel, color.NRGBAModel:
		return 4
	case color.Gray16Model, color.RGBA64Model, color.NRGBA64Model:
		return 8
	}
	return 1 // a palette
}

// Markers of JPEG (ITU-T T.81 table B.1).
const (
	markerSOF0, markerSOF1, markerSOF2 = 0xc0, 0xc1, 0xc2
	markerRST0, markerRST7             = 0xd0, 0xd7
	markerEOI, markerSOS               = 0xd9, 0xda
)

// jpegFrame is what the frame header of a JPEG says.
type jpegFrame struct {
	width, height, components int
	progressive               bool
}

// measureJPEG is measure for a JPEG picture. The decoder holds an octet for each sample, of a progressive picture four more
// for its coefficient, and in the end four for each pixel, where it converts the colours. The number of samples of a
// component is at most that of pixels, with each side rounded up to whole units of 8 samples with a sampling factor of at
// most 4.
func measureJPEG(r *bufio.Reader) (int64, error) {
	const unit, sample, coefficient, pixel = 32, 1, 4, 4
	frame, scans, err := walkJPEG(r)
	if err != nil || scans > scansMax || !slices.Contains([]int{1, 3, 4}, frame.components) { // grey, three colours, CMYK
		return 0, errNoPicture
	}
	pixels, err := area(frame.width, frame.height)
	if err != nil {
		return 0, err
	}
	rounded := func(n int) int64 { return int64(n+unit-1) / unit * unit }
	samples := rounded(frame.width) * rounded(frame.height) * int64(frame.components)
	octets := samples*sample + pixels*pixel
	if frame.progressive {
		octets += samples * coefficient
	}
	return octets, nil
}

// walkJPEG reads the markers of a JPEG, as the decoder does, and returns its frame header and the number of its scans. It
// stops after scansMax scans and one.
func walkJPEG(r *bufio.Reader) (frame jpegFrame, scans int, err error) {
	if _, err := r.Discard(2); err != nil { // SOI
		return frame, 0, err
	}
	for scans <= scansMax {
		marker, err := nextMarker(r)
		if errors.Is(err, io.EOF) || err == nil && marker == markerEOI {
			return frame, scans, nil
		}
		var length [2]byte
		if err == nil {
			_, err = io.ReadFull(r, length[:])
		}
		if err != nil {
			return frame, scans, err
		}
		n := int(binary.BigEndian.Uint16(length[:])) - len(length)
		switch marker {
		case markerSOF0, markerSOF1, markerSOF2:
			var header [6]byte                            // precision, height, width, components
			if n < len(header) || frame.components != 0 { // the decoder takes one frame
				return frame, scans, errNoPicture
			}
			if _, err := io.ReadFull(r, header[:]); err != nil {
				return frame, scans, err
			}
			n -= len(header)
			frame = jpegFrame{
				height: int(binary.BigEndian.Uint16(header[1:])), width: int(binary.BigEndian.Uint16(header[3:])),
				components: int(header[5]), progressive: marker == markerSOF2,
			}
		case markerSOS:
			scans++
		}
		if _, err := r.Discard(max(n, 0)); err != nil {
			return frame, scans, err
		}
	}
	return frame, scans, nil
}

// nextMarker skips the data of a scan, with its restart markers, and returns the next marker.
func nextMarker(r *bufio.Reader) (byte, error) {
	for {
		if _, err := r.ReadSlice(0xff); errors.Is(err, bufio.ErrBufferFull) {
			continue
		} else if err != nil {
			return 0, err
		}
		marker := byte(0xff)
		for marker == 0xff { // a marker may have any number of fill bytes before it
			var err error
			if marker, err = r.ReadByte(); err != nil {
				return 0, err
			}
		}
		if marker != 0 && (marker < markerRST0 || marker > markerRST7) {
			return marker, nil
		}
	}
}

// encodeThumbnail returns a picture as a small JPEG.
func encodeThumbnail(picture image.Image, size image.Point) []byte {
	var b bytes.Buffer
	_ = jpeg.Encode(&b, scaled(picture, size), nil) // fails only if writing does
	return b.Bytes()
}
