package sanitize

// Links lists the http and https addresses of an HTML body's links (a and area) in order of first appearance, without
// duplicates, at most max. They are in the form HTML would write them, entities decoded.
func Links(src string, max int) []string {
	var links []string
	seen := make(map[string]bool)
	z := scanner{src: src}
	for len(links) < max && z.next() {
		if z.kind != startToken || z.name != "a" && z.name != "area" {
			continue
		}
		if link, ok := z.target(); ok && !seen[link] {
			seen[link] = true
			links = append(links, link)
		}
	}
	return links
}

// target is the web address the present tag links to.
func (z *scanner) target() (string, bool) {
	for name, value := range z.attributes {
		if name == "href" {
			v, ok := tidyAddress(value)
			if !ok {
				return "", false
			}
			return webAddress(v)
		}
	}
	return "", false
}
