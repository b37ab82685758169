package wallet

// NewMemo is newMemo.
func NewMemo() string { return newMemo() }

// MemosIn is memosIn.
func MemosIn(text string) []string { return memosIn(text) }
