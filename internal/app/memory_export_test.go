package app

// Held exports held to the tests.
type Held struct{ held }

// Worthwhile calls worthwhile.
func (h *Held) Worthwhile(total, inUse int64) bool { return h.worthwhile(total, inUse) }

// Freed calls freed.
func (h *Held) Freed(total, inUse int64) { h.freed(total, inUse) }
