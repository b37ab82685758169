package wallet

// NewMemo is newMemo.
func NewMemo() string { return newMemo() }

// FindMemos is findMemos.
func FindMemos(text string) []string { return findMemos(text) }
