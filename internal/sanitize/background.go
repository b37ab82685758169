package sanitize

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/gonebox/gonebox/internal/css"
)

// A background image is kept as the attribute background, on every element: what shows a mail loads it when its reader asks for
// images. In style it would be loaded at once. While the cascade is worked out it is url("…") in the value of background-image or background.

// cutImage returns the value of a background property without its image, and the address of the image. ok is false if there is none, or if
// it is not one of the web.
func cutImage(val string) (rest, address string, ok bool) {
	i := indexURL(val)
	if i < 0 || indexURL(val[i+len("url("):]) >= 0 || strings.Count(val[:i], "(") != strings.Count(val[:i], ")") {
		return val, "", false
	}
	inner, after, found := cutParenthesis(strings.TrimLeft(val[i+len("url("):], css.Space))
	if !found {
		return val, "", false
	}
	address, ok = tidyAddress(inner)
	if ok {
		address, ok = webAddress(address)
	}
	if !ok || strings.Contains(address, `\`) {
		return val, "", false
	}
	return val[:i] + " " + after, escapeImage(address), true
}

// indexURL returns where the first url( begins, or -1.
func indexURL(val string) int { return strings.Index(strings.ToLower(val), "url(") }

// cutParenthesis cuts a string or an address without quotes and the parenthesis behind it from s.
func cutParenthesis(s string) (inner, after string, ok bool) {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		if inner, after, ok = strings.Cut(s[1:], s[:1]); !ok {
			return "", "", false
		}
		after, ok = strings.CutPrefix(strings.TrimLeft(after, css.Space), ")")
		return inner, after, ok
	}
	inner, after, ok = strings.Cut(s, ")")
	return strings.TrimSpace(inner), after, ok && !strings.ContainsAny(inner, `"'(`)
}

// imageEscapes are the characters of an address that CSS or HTML would read otherwise.
var imageEscapes = strings.NewReplacer(`"`, "%22", "'", "%27", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "*", "%2A", "{", "%7B", "}", "%7D", ";", "%3B")

// escapeImage returns an address in a form that is the same in a string of CSS and as an attribute.
func escapeImage(address string) string { return imageEscapes.Replace(address) }

// image returns the declaration of a background image as the cascade knows it.
func imageDeclaration(address string) string { return `background-image:url("` + address + `")` }

// splitImage returns a style without its background image, and the address of that; the last one counts.
func splitImage(style string) (rest, address string) {
	if indexURL(style) < 0 && !strings.Contains(style, "background-image") {
		return style, ""
	}
	var out strings.Builder
	for text := range css.Declarations(style) {
		d, ok := parseDeclaration(text)
		if !ok {
			continue
		}
		plain, image, found := cutImage(d.value)
		switch {
		case found:
			address = image
		case d.longhands.overlaps(properties["background-image"]):
			address = ""
		}
		d.value = strings.Trim(strings.Join(strings.Fields(plain), " "), " ,") // without a layer that was the image alone
		if d.value != "" && (d.name != "background-image" || isGradient(d.value)) {
			d.write(&out, d.important)
		}
	}
	return out.String(), address
}

// isGradient reports whether the value of background-image, which has no address, is a gradient.
func isGradient(val string) bool { return strings.Contains(strings.ToLower(val), "-gradient(") }

// style writes the attributes that carry a style.
func (w *writer) style(v string) {
	rest, image := splitImage(v)
	if image != "" && w.images {
		w.attr("background", image)
	}
	if rest != "" {
		w.attr("style", rest)
	}
}

// imageOf returns the declaration for a background attribute, "" if its address is not one of the web.
func imageOf(background string) string {
	address, ok := tidyAddress(background)
	if ok {
		address, ok = webAddress(address)
	}
	if !ok || strings.Contains(address, `\`) {
		return ""
	}
	return imageDeclaration(escapeImage(address))
}

// withBackground returns the attributes of n with its background attribute as a part of its style.
func (w *writer) withBackground(n *html.Node) []html.Attribute {
	at, style := -1, -1
	for i, a := range n.Attr {
		switch {
		case a.Namespace != "":
		case a.Key == "background" && at < 0:
			at = i
		case a.Key == "style" && style < 0:
			style = i
		}
	}
	if at < 0 || !w.images {
		return n.Attr
	}
	image := imageOf(n.Attr[at].Val)
	var attrs []html.Attribute
	for i, a := range n.Attr {
		switch {
		case i == style && image != "":
			a.Val += ";" + image // the attribute counts, so that it is read as it is written
		case i == at && style < 0 && image != "":
			a = html.Attribute{Key: "style", Val: image}
		case i == at:
			continue
		}
		attrs = append(attrs, a)
	}
	w.stable = w.stable && !isFormatting(n.Data)
	return attrs
}
