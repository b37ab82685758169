package message

import (
	"mime"
	"net/url"
	"slices"
	"strings"

	"github.com/gonebox/gonebox/internal/sanitize"
)

// contentIDs finds attachments by their Content-ID. A mail can have many of them, and many references to them.
type contentIDs struct{ exact, plain map[string]int } // the first attachment of each identifier, as it is and decoded

func indexByID(all []Attachment) contentIDs {
	c := contentIDs{make(map[string]int), make(map[string]int)}
	add := func(m map[string]int, id string, i int) {
		if first, found := m[id]; !found || !all[first].Available && all[i].Available {
			m[id] = i
		}
	}
	for i, a := range all {
		if a.ContentID != nil {
			add(c.exact, *a.ContentID, i)
			add(c.plain, plainContentID(*a.ContentID), i)
		}
	}
	return c
}

// find returns the index of the attachment that a cid: address names. Senders differ in what they encode of an identifier: the
// same one counts, else one that is the same once it is decoded. Of several, the first whose content is stored counts.
func (c contentIDs) find(cid string) (index int, found bool) {
	if index, found = c.exact[cid]; !found {
		index, found = c.plain[plainContentID(cid)]
	}
	return index, found
}

// plainContentID returns a Content-ID without angle brackets, percent-encoding (RFC 2392 §2) and encoded words, with single spaces.
func plainContentID(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		s = plain
	}
	if decoded, err := new(mime.WordDecoder).DecodeHeader(s); err == nil {
		s = decoded
	}
	return strings.Trim(strings.Join(strings.Fields(s), " "), "<>")
}

// hasAttachments reports whether a mail has an attachment beside the images that its HTML shows, such as the logo of its sender. An image of more
// than max octets is not shown.
func hasAttachments(html string, files []File, max int64) bool {
	if !slices.ContainsFunc(files, func(f File) bool { return f.ContentID != nil }) {
		return len(files) > 0 // the HTML can show none of them
	}
	all := make([]Attachment, len(files))
	for i, f := range files {
		all[i] = f.Attachment
	}
	ids, shown := indexByID(all), make(map[int]bool)
	for _, cid := range sanitize.ContentIDs(html) {
		i, found := ids.find(cid)
		if found && files[i].Available && files[i].Size <= max && sanitize.ShowsImage(files[i].ContentType, files[i].Data) {
			shown[i] = true
		}
	}
	return len(shown) < len(files)
}
