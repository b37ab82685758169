package app

// MemoryBaseline exports memoryBaseline to the tests.
type MemoryBaseline struct{ memoryBaseline }

// Exceeded calls exceeded.
func (b *MemoryBaseline) Exceeded(total, inUse int64) bool { return b.exceeded(total, inUse) }

// Update calls update.
func (b *MemoryBaseline) Update(total, inUse int64) { b.update(total, inUse) }
