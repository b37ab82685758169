package block

// Match exports match for tests.
func Match(pattern, text string) bool { return match(pattern, text) }

// Fill sets the blocks of a service without a database.
func (s *Service) Fill(fn func(add func(kind Kind, value string))) {
	x := newIndex(1)
	fn(func(kind Kind, value string) { x.add(kind, value, forever) })
	s.index.Store(x)
}

// PatternsMax is the limit of patterns.
const PatternsMax = patternsMax
