package message

// What the tests of this package look at from outside.
var (
	Preview     = preview
	Cursor      = cursor
	ParseCursor = parseCursor
	Newest      = newest
)
