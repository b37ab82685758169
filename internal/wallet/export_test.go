package wallet

// NewMemo lets the tests make memos.
func NewMemo() string { return newMemo() }

// MemosIn lets the tests look for memos.
func MemosIn(text string) []string { return memosIn(text) }
