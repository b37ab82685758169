package content

// Chain lets tests see what a locale is cut down to.
func (l Locale) Chain() []Locale { return l.chain() }
