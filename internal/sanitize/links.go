package sanitize

import "github.com/gonebox/gonebox/internal/htmltoken"

// Links lists the http and https addresses of an HTML body's links (a and area) in order of first appearance, without
// duplicates, at most max. They are in the form HTML would write them, entities decoded.
func Links(src string, max int) []string {
	var links []string
	seen := make(map[string]bool)
	for z := htmltoken.New(src); len(links) < max && z.Next(); {
		if z.Kind != htmltoken.StartTag || z.Name != "a" && z.Name != "area" {
			continue
		}
		href, _ := z.Attr("href")
		if address, ok := tidyAddress(href); ok {
			if link, ok := webAddress(address); ok && !seen[link] {
				seen[link] = true
				links = append(links, link)
			}
		}
	}
	return links
}
