package sanitize

import (
	"encoding/base64"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/gonebox/gonebox/internal/htmltoken"
)

// Limits of images carried within the HTML, in bytes before base64. What would exceed them has no src.
const (
	maxImage  = 512 << 10 // one (docs/spec/messages.md, HTML)
	maxImages = 2 << 20   // all of one mail, each use counted
	leastUse  = 1 << 10   // what a use counts at least: it costs more than its bytes
)

// src writes the address of an image: a remote one as it is, one of the same mail as a data: URL.
func (w *writer) src(v string) {
	if cid, ok := contentID(v); ok {
		w.inline(w.part(cid))
		return
	}
	scheme, rest, _ := strings.Cut(strings.TrimLeft(v, " \t\n\f\r"), ":")
	switch strings.ToLower(scheme) {
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

// part returns the image with a Content-ID. It is fetched and encoded once, however often it is named.
func (w *writer) part(cid string) inlined {
	if w.image == nil {
		return inlined{}
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

// encode makes data a data: URL, if the bytes themselves make it an image of a kind that can do nothing but be seen, and what the sender says
// does not contradict.
func encode(contentType string, data []byte) inlined {
	if len(data) == 0 || len(data) > maxImage || !mayBeImage(contentType) {
		return inlined{}
	}
	sniffed := rasterType(http.DetectContentType(data))
	if sniffed == "" {
		return inlined{}
	}
	return inlined{"data:" + sniffed + ";base64," + base64.StdEncoding.EncodeToString(data), len(data)}
}

// maxContentIDs bounds the images of the same mail that ContentIDs lists.
const maxContentIDs = 1000

// ContentIDs lists the parts of the same mail that images of an HTML body name with cid: addresses, without percent-encoding.
func ContentIDs(src string) (ids []string) {
	if !containsFold(src, "cid:") {
		return nil
	}
	for z := htmltoken.New(src); len(ids) < maxContentIDs && z.Next(); {
		if z.Kind != htmltoken.StartTag || z.Name != "img" {
			continue
		}
		address, _ := z.Attr("src")
		if cid, ok := contentID(address); ok {
			ids = append(ids, cid)
		}
	}
	return ids
}

// containsFold reports whether s contains part, which is in lower case, in any case of letters.
func containsFold(s, part string) bool {
	for i := strings.IndexByte(s, ':'); i >= 0; {
		if from := i + 1 - len(part); from >= 0 && strings.EqualFold(s[from:i+1], part) {
			return true
		}
		n := strings.IndexByte(s[i+1:], ':')
		if n < 0 {
			return false
		}
		i += 1 + n
	}
	return false
}

// contentID returns what a cid: address names (RFC 2392 §2: the Content-ID, percent-encoded, without angle brackets).
func contentID(address string) (cid string, ok bool) {
	scheme, cid, ok := strings.Cut(strings.TrimLeft(address, " \t\n\f\r"), ":")
	if !ok || !strings.EqualFold(scheme, "cid") {
		return "", false
	}
	cid = strings.TrimSpace(cid)
	if plain, err := url.PathUnescape(cid); err == nil {
		cid = plain
	}
	return cid, true
}

// ShowsImage reports whether HTML shows a part that an image of an HTML body names, as far as its type and its content decide that.
func ShowsImage(contentType string, data []byte) bool {
	return len(data) <= maxImage && mayBeImage(contentType) && rasterType(http.DetectContentType(data)) != ""
}

// mayBeImage reports whether a part of that type may be an image: what is declared as one, or as nothing but octets.
func mayBeImage(contentType string) bool {
	plain, _, err := mime.ParseMediaType(contentType)
	return err == nil && (strings.HasPrefix(plain, "image/") && !strings.HasPrefix(plain, "image/svg") ||
		plain == "application/octet-stream" || plain == "binary/octet-stream" || plain == "application/x-octet-stream")
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
