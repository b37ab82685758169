package page

import "github.com/gonebox/gonebox/internal/htmltoken"

// implies reports whether a start tag ends open elements that have no end tags.
func (h *htmlReader) implies(e *htmltoken.Element) bool {
	return h.path.Implied(e) < len(h.stack)
}

// endImplied ends the elements that a start tag ends: what one of them hides or
// sets apart goes no further.
func (h *htmlReader) endImplied(e *htmltoken.Element) {
	for end := h.path.Implied(e); end < len(h.stack); {
		n := len(h.stack)
		h.close(h.stack[end].name)
		if len(h.stack) == n {
			return
		}
	}
}
