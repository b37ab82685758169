package content

// Chain is chain.
func (l Locale) Chain() []Locale { return l.chain() }
