package mailcheck

import (
	"slices"
	"strings"

	"github.com/gonebox/gonebox/internal/autolink"
	"github.com/gonebox/gonebox/internal/htmltoken"
)

// Links returns the web addresses of a mail, each once and at most limit: first those of links in its HTML, then those of style sheets and
// of images, then those that its text shows.
func Links(html, text string, limit int) []string {
	var anchors, sheets, images []string
	known := make(map[string]bool)
	add := func(list []string, address string) []string {
		if len(list) < limit && isWeb(address) && !slices.Contains(list, address) {
			list = append(list, address)
		}
		return list
	}
	for z := htmltoken.New(html[:min(len(html), maxHTML)]); z.Next(); {
		if z.Kind != htmltoken.StartTag {
			continue
		}
		href, _ := z.Attr("href")
		switch z.Name {
		case "noscript":
			z.NotRaw()
		case "a", "area":
			anchors = add(anchors, strings.TrimSpace(href))
		case "link":
			if rel, _ := z.Attr("rel"); strings.EqualFold(strings.TrimSpace(rel), "stylesheet") {
				sheets = add(sheets, strings.TrimSpace(href))
			}
		case "img":
			src, _ := z.Attr("src")
			images = add(images, strings.TrimSpace(src))
		}
	}
	var shown []string
	for l := range autolink.All(text) {
		if shown = add(shown, l.URL); len(shown) == limit {
			break
		}
	}
	all := []string{}
	for _, address := range slices.Concat(anchors, sheets, images, shown) {
		if !known[address] && len(all) < limit {
			known[address] = true
			all = append(all, address)
		}
	}
	return all
}

// isWeb reports whether an address is of http or https.
func isWeb(address string) bool {
	begin := strings.ToLower(address[:min(len(address), len("https://"))])
	return strings.HasPrefix(begin, "https://") && len(address) > len("https://") || strings.HasPrefix(begin, "http://") && len(address) > len("http://")
}
