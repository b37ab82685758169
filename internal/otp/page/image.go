package page

import "html"

// maxAlt bounds the text that stands for an image.
const maxAlt = 256

// writeAlt writes what is shown where an image is not, if that is a digit or may
// hold a code: a name on a logo is no part of the text.
func (h *htmlReader) writeAlt(alt string, st style) {
	if p := h.p; p.inLink && alt != "" && len(p.Links) > 0 {
		p.Links[len(p.Links)-1].Alt = html.UnescapeString(alt[:min(len(alt), maxAlt)])
	}
	digits := 0
	for _, r := range alt[:min(len(alt), maxAlt)] {
		if IsDigit(r) {
			digits++
		}
	}
	if digits >= MinCode || digits > 0 && digits == len(alt) {
		h.last.from = len(h.p.Raw)
		for _, r := range html.UnescapeString(alt[:min(len(alt), maxAlt)]) {
			h.put(r, st)
		}
		return
	}
	h.last.element = 0
}
