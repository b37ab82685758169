package page

// implies reports whether a start tag ends open elements that have no end tags.
func (h *htmlReader) implies(name string) bool {
	return h.path.Implied(name) < len(h.stack)
}

// endImplied ends the elements that a start tag ends: what one of them hides or
// sets apart goes no further.
func (h *htmlReader) endImplied(name string) {
	for end := h.path.Implied(name); end < len(h.stack); {
		n := len(h.stack)
		h.close(h.stack[end].name)
		if len(h.stack) == n {
			return
		}
	}
}
