package sanitize

import (
	"encoding/base64"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// Limits of images carried within the HTML, in bytes before base64. What would exceed them has no src.
const (
	maxImage  = 512 << 10 // one (docs/spec/messages.md, HTML)
	maxImages = 2 << 20   // all of one mail, each use counted
	leastUse  = 1 << 10   // what a use counts at least: it costs more than its bytes
)

// src writes the address of an image: a remote one as it is, one of the same mail as a data: URL.
func (w *writer) src(v string) {
	scheme, rest, _ := strings.Cut(strings.TrimLeft(v, " \t\n\f\r"), ":")
	switch strings.ToLower(scheme) {
	case "cid":
		w.inline(w.part(rest))
	case "data":
		if base64.StdEncoding.DecodedLen(len(rest)) <= w.imageBudget+maxImage/8 {
			w.inline(encode(decodeData(rest)))
		}
	default:
		if v, ok := tidyAddress(v); ok {
			if v, ok = webAddress(v); ok {
				w.attr("src", v)
			}
		}
	}
}

// inlined is an image as it is written.
type inlined struct {
	url  string // "": none
	size int    // before base64
}

// part returns the image that a cid: URL names (RFC 2392 §2: the Content-ID, percent-encoded, without angle brackets). It is fetched
// and encoded once, however often it is named.
func (w *writer) part(cid string) inlined {
	if w.image == nil {
		return inlined{}
	}
	cid = strings.TrimSpace(cid)
	if plain, err := url.PathUnescape(cid); err == nil {
		cid = plain
	}
	known, ok := w.parts[cid]
	if !ok {
		if contentType, data, ok := w.image(cid, min(maxImage, w.imageBudget)); ok {
			known = encode(contentType, data)
		}
		if w.parts == nil {
			w.parts = make(map[string]inlined)
		}
		w.parts[cid] = known
	}
	return known
}

// decodeData takes a data: URL apart (RFC 2397). Only base64 is understood; images come in nothing else.
func decodeData(rest string) (contentType string, data []byte) {
	contentType, encoded, _ := strings.Cut(rest, ",")
	contentType, isBase64 := strings.CutSuffix(strings.ToLower(strings.TrimSpace(contentType)), ";base64")
	if !isBase64 || rasterType(contentType) == "" || base64.StdEncoding.DecodedLen(len(encoded)) > maxImage+maxImage/8 {
		return "", nil
	}
	encoded = strings.Join(strings.Fields(encoded), "")
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
	if err != nil {
		return "", nil
	}
	return contentType, data
}

// encode makes data a data: URL, if both what the sender says and the bytes themselves make it an image of a kind that can do
// nothing but be seen.
func encode(contentType string, data []byte) inlined {
	if len(data) == 0 || len(data) > maxImage || rasterType(contentType) == "" {
		return inlined{}
	}
	sniffed := rasterType(http.DetectContentType(data))
	if sniffed == "" {
		return inlined{}
	}
	return inlined{"data:" + sniffed + ";base64," + base64.StdEncoding.EncodeToString(data), len(data)}
}

// inline writes an image's source, if all of them stay within their limit.
func (w *writer) inline(image inlined) {
	if use := max(image.size, leastUse); image.url != "" && use <= w.imageBudget {
		w.imageBudget -= use
		w.attr("src", image.url)
	}
}

// rasterType is the plain name of an image type we inline, or "". SVG is a document with scripts, not an image.
func rasterType(contentType string) string {
	plain, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	switch plain {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp":
		return plain
	case "image/jpg", "image/pjpeg":
		return "image/jpeg"
	case "image/x-png":
		return "image/png"
	case "image/x-ms-bmp":
		return "image/bmp"
	}
	return ""
}
