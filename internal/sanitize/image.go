package sanitize

import (
	"encoding/base64"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// Limits of images carried within the HTML, in bytes before base64.
const (
	maxImage  = 512 << 10 // one (decisions §2 "HTML")
	maxImages = 2 << 20   // all of one mail, each use counted
)

// src writes the address of an image: a remote one as it is, one of the same mail as a data: URL.
func (w *writer) src(v string) {
	scheme, rest, _ := strings.Cut(strings.TrimLeft(v, " \t\n\f\r"), ":")
	switch strings.ToLower(scheme) {
	case "cid":
		w.inline(w.part(rest))
	case "data":
		w.inline(decodeData(rest))
	default:
		if v, ok := tidyAddress(v); ok {
			if v, ok = webAddress(v); ok {
				w.attr("src", v)
			}
		}
	}
}

// part fetches the image a cid: URL names (RFC 2392 §2: the Content-ID, percent-encoded, without angle brackets).
func (w *writer) part(cid string) (contentType string, data []byte) {
	if w.image == nil {
		return "", nil
	}
	cid = strings.TrimSpace(cid)
	if plain, err := url.PathUnescape(cid); err == nil {
		cid = plain
	}
	contentType, data, _ = w.image(cid)
	return contentType, data
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

// inline writes data as the image's source, if both what the sender says and the bytes themselves make it an image of a
// kind that can do nothing but be seen.
func (w *writer) inline(contentType string, data []byte) {
	if len(data) == 0 || len(data) > min(maxImage, w.imageBudget) || rasterType(contentType) == "" {
		return
	}
	sniffed := rasterType(http.DetectContentType(data))
	if sniffed == "" {
		return
	}
	w.imageBudget -= len(data)
	w.attr("src", "data:"+sniffed+";base64,"+base64.StdEncoding.EncodeToString(data))
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
