package block

// Fill sets the blocks of a service without a database.
func (s *Service) Fill(fn func(add func(kind Kind, value string))) {
	x := newIndex(1)
	fn(func(kind Kind, value string) { x.add(kind, value, forever) })
	s.index.Store(x)
}

// PatternsMax is the limit of patterns.
const PatternsMax = patternsMax

// Version returns the version of the blocks that are in effect.
func (s *Service) Version() int64 { return s.index.Load().version }
