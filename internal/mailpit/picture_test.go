package mailpit_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"runtime"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/mailpit"
)

// zeroJPEG returns a JPEG whose coefficients are all 0. The Huffman code of every symbol that it uses is a single 0 bit, so a
// scan has a bit for each block.
func zeroJPEG(marker byte, width, height, components, scans int) []byte {
	b := []byte{0xff, 0xd8}
	segment := func(marker byte, content ...byte) {
		b = append(b, 0xff, marker)
		b = binary.BigEndian.AppendUint16(b, uint16(len(content)+2))
		b = append(b, content...)
	}
	if components == 4 {
		segment(0xee, append([]byte("Adobe"), 0, 100, 0, 0, 0, 0, 0)...)
	}
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	frame := []byte{8, byte(height >> 8), byte(height), byte(width >> 8), byte(width), byte(components)}
	for c := range components {
		frame = append(frame, byte(c+1), 0x11, 0)
	}
	segment(marker, frame...)
	for _, class := range []byte{0x00, 0x10} {
		segment(0xc4, append(append([]byte{class, 1}, make([]byte, 15)...), 0)...)
	}
	blocks := ((width + 7) / 8) * ((height + 7) / 8)
	for scan := range scans {
		var header []byte
		bits := blocks * components
		switch {
		case marker == 0xc2 && scan > 0: // an AC coefficient of the first component
			header, bits = []byte{1, 1, 0, byte(1 + scan%63), byte(1 + scan%63), 0}, blocks
		default:
			header = []byte{byte(components)}
			for c := range components {
				header = append(header, byte(c+1), 0)
			}
			header = append(header, 0, 63, 0)
			if marker == 0xc2 {
				header[len(header)-2] = 0
			} else {
				bits *= 2
			}
		}
		segment(0xda, header...)
		b = append(b, make([]byte, (bits+7)/8)...)
	}
	return append(b, 0xff, 0xd9)
}

// emptyPNG returns a PNG of zeroes.
func emptyPNG(width, height int, depth, colors, interlace byte, channels int) []byte {
	b := []byte("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, content []byte) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(content)))
		begin := len(b)
		b = append(append(b, kind...), content...)
		b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[begin:]))
	}
	header := binary.BigEndian.AppendUint32(nil, uint32(width))
	header = binary.BigEndian.AppendUint32(header, uint32(height))
	chunk("IHDR", append(header, depth, colors, 0, 0, interlace))
	if colors == 0 && depth >= 8 {
		chunk("tRNS", []byte{0, 1}) // a grey picture with a transparent colour takes the most
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	row := make([]byte, 1+(width*channels*int(depth)+7)/8)
	for range height * 2 { // the rows of the passes have more octets in all than those of the picture
		_, _ = z.Write(row)
	}
	_ = z.Close()
	chunk("IDAT", packed.Bytes())
	chunk("IEND", nil)
	return b
}

func encoded(t *testing.T, kind string, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	bounds := image.Rect(0, 0, width, height)
	switch kind {
	case "gif":
		err = gif.Encode(&b, image.NewPaletted(bounds, palette.Plan9), nil)
	case "jpeg":
		err = jpeg.Encode(&b, image.NewNRGBA(bounds), nil)
	case "grey jpeg":
		err = jpeg.Encode(&b, image.NewGray(bounds), nil)
	case "png":
		err = png.Encode(&b, image.NewNRGBA(bounds))
	case "png with 16 bits":
		err = png.Encode(&b, image.NewNRGBA64(bounds))
	case "png with a palette":
		err = png.Encode(&b, image.NewPaletted(bounds, color.Palette{color.White, color.Black}))
	}
	if err != nil {
		t.Fatalf("encode a %s: %v", kind, err)
	}
	return b.Bytes()
}

// Decoding a picture takes no more memory than Measure says, whatever its format and shape.
func TestMeasureIsAnUpperBound(t *testing.T) {
	pictures := make(map[string][]byte)
	for _, size := range []image.Point{{1000, 1000}, {1, 60_000}, {60_000, 1}, {1, 1}} {
		for _, kind := range []string{"gif", "jpeg", "grey jpeg", "png", "png with 16 bits", "png with a palette"} {
			pictures[fmt.Sprintf("%s of %v", kind, size)] = encoded(t, kind, size.X, size.Y)
		}
		for components := 1; components <= 4; components++ {
			if components == 2 {
				continue
			}
			pictures[fmt.Sprintf("progressive jpeg of %v with %d components", size, components)] = zeroJPEG(0xc2, size.X, size.Y, components, 10)
			pictures[fmt.Sprintf("baseline jpeg of %v with %d components", size, components)] = zeroJPEG(0xc0, size.X, size.Y, components, 1)
		}
		for interlace := range byte(2) {
			pictures[fmt.Sprintf("grey png of %v, interlace %d", size, interlace)] = emptyPNG(size.X, size.Y, 8, 0, interlace, 1)
			pictures[fmt.Sprintf("grey png of %v with 16 bits, interlace %d", size, interlace)] = emptyPNG(size.X, size.Y, 16, 0, interlace, 1)
			pictures[fmt.Sprintf("png of %v with 16 bits, interlace %d", size, interlace)] = emptyPNG(size.X, size.Y, 16, 6, interlace, 4)
		}
	}
	pictures["png of 4,194,304 pixels in a row"] = emptyPNG(1<<22, 1, 16, 6, 0, 4)
	for name, picture := range pictures {
		octets, err := mailpit.Measure(bytes.NewReader(picture))
		if err != nil {
			t.Errorf("Measure of a %s: %v", name, err)
			continue
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err = image.Decode(bytes.NewReader(picture))
		runtime.ReadMemStats(&after)
		if err != nil && !strings.Contains(err.Error(), "too much pixel data") { // which is noticed in the end
			t.Errorf("decode a %s: %v, want no error but that there is too much pixel data", name, err)
		}
		if took := int64(after.TotalAlloc - before.TotalAlloc); took > octets {
			t.Errorf("decoding a %s took %d octets, want at most the %d that Measure returned", name, took, octets)
		}
	}
}

func TestPicturesThatAreNotDecoded(t *testing.T) {
	for name, test := range map[string]struct {
		picture []byte
		decoded bool
	}{
		"nothing":                           {nil, false},
		"text":                              {[]byte("hello"), false},
		"the beginning of a jpeg":           {[]byte{0xff, 0xd8}, false},
		"a jpeg without a frame":            {[]byte{0xff, 0xd8, 0xff, 0xd9}, false},
		"a jpeg of 10 scans":                {zeroJPEG(0xc2, 64, 64, 3, 10), true},
		"a jpeg of 11 scans":                {zeroJPEG(0xc2, 64, 64, 3, 11), false},
		"a jpeg of 1,000 scans":             {zeroJPEG(0xc2, 64, 64, 3, 1000), false},
		"a baseline jpeg of 11 scans":       {zeroJPEG(0xc0, 64, 64, 3, 11), false},
		"a jpeg of 4 megapixels":            {zeroJPEG(0xc2, 2048, 2048, 3, 2), true},
		"a jpeg of more":                    {zeroJPEG(0xc2, 2048, 2049, 3, 2), false},
		"a png of 16,777,216 pixels":        {emptyPNG(1<<24, 1, 1, 0, 0, 1), false},
		"a png of 4,194,304 pixels":         {emptyPNG(1<<22, 1, 1, 0, 0, 1), true},
		"a gif with a screen of 65535²":     {append([]byte("GIF89a"), 0xff, 0xff, 0xff, 0xff, 0, 0, 0), false},
		"a png that ends in its header":     {emptyPNG(10, 10, 8, 6, 0, 4)[:20], false},
		"a jpeg that ends in its scan":      {zeroJPEG(0xc2, 64, 64, 3, 1)[:300], true},
		"a jpeg with fill bytes and a wait": {append([]byte{0xff, 0xd8, 0xff, 0xff, 0xff, 0xd0}, zeroJPEG(0xc2, 64, 64, 3, 11)[2:]...), false},
	} {
		if _, err := mailpit.Measure(bytes.NewReader(test.picture)); (err == nil) != test.decoded {
			t.Errorf("Measure of %s: %v, want it decoded: %v", name, err, test.decoded)
		}
	}
}

func FuzzMeasure(f *testing.F) {
	f.Add(zeroJPEG(0xc2, 64, 64, 3, 3))
	f.Add(zeroJPEG(0xc0, 9, 9, 1, 1))
	f.Add(emptyPNG(8, 8, 8, 0, 1, 1))
	f.Fuzz(func(t *testing.T, picture []byte) {
		octets, err := mailpit.Measure(bytes.NewReader(picture))
		if err != nil {
			return
		}
		if octets <= 0 || octets > 256<<20 {
			t.Errorf("Measure returned %d octets for %d, want more than 0 and at most %v", octets, len(picture), 256<<20)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, _ = image.Decode(bytes.NewReader(picture))
		runtime.ReadMemStats(&after)
		if took := int64(after.TotalAlloc - before.TotalAlloc); took > octets+int64(len(picture)) {
			t.Errorf("decoding %d octets took %d, and Measure returned %d, want at most %v", len(picture), took, octets, octets+int64(len(picture)))
		}
	})
}
