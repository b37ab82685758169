package app

// Held is held for tests.
type Held struct{ held }

// Worthwhile is worthwhile.
func (h *Held) Worthwhile(total, inUse int64) bool { return h.worthwhile(total, inUse) }

// Freed is freed.
func (h *Held) Freed(total, inUse int64) { h.freed(total, inUse) }
