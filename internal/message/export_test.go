package message

import "fmt"

// What the tests of this package look at from outside.
var (
	Preview     = preview
	Cursor      = cursor
	ParseCursor = parseCursor
	Newest      = newest
)

// Follow returns what follow says of a mail, and what it would say if it read every link.
func Follow(html, text string, refused []string) (got, want string) {
	d := &detail{}
	d.HTML, d.Text = html, text
	return said(follow(d, nil, refused)), said(followAll(d, nil, refused))
}

// LinksOf lists the addresses of a text.
func LinksOf(text string, max int) []string {
	d := &detail{}
	d.Text = text
	return links(linksOf(d, max))
}

func said(any bool, best *string) string {
	if best == nil {
		return fmt.Sprint(any)
	}
	return *best
}
