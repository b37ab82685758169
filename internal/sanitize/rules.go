package sanitize

// check reports whether an attribute's value may stay, and in which form.
type check func(value string) (string, bool)

// rules are what may stay of one kind of HTML. Elements in neither list are replaced by their content.
type rules struct {
	elements map[string]map[string]check // what stays, with the attributes it may have beside the global ones
	global   map[string]check            // attributes every element may have
	href     check
	images   bool
}

// dropped are the elements that are removed with their content, as are all elements of SVG and MathML. Of what shows its content where it cannot
// do more (audio, canvas, noscript, object, picture, video), the content is left.
var dropped = set("applet", "base", "basefont", "bgsound", "command", "datalist", "dialog",
	"embed", "frame", "frameset", "head", "iframe", "image", "input", "isindex", "keygen", "link", "math", "meta",
	"noembed", "noframes", "optgroup", "option", "param", "portal", "script", "select",
	"slot", "source", "style", "svg", "template", "textarea", "title", "track", "xml")

var void = set("area", "br", "col", "hr", "img", "wbr")

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

type attrs = map[string]check

var mailRules = rules{
	images: true,
	href:   mailHref,
	global: attrs{
		"align": keyword("left", "right", "center", "justify", "middle", "top", "bottom", "absmiddle", "baseline", "char"),
		"dir":   keyword("ltr", "rtl", "auto"),
		"lang":  language,
		"style": style,
		"title": freeText,
	},
	elements: with(map[string]attrs{
		"a":          {"href": nil},
		"area":       {"href": nil, "alt": freeText, "shape": keyword("rect", "circle", "poly", "default"), "coords": coordinates},
		"map":        {},
		"col":        {"span": number, "width": length, "valign": vertical, "bgcolor": color},
		"colgroup":   {"span": number, "width": length, "valign": vertical, "bgcolor": color},
		"font":       {"color": color, "face": fontFace, "size": fontSize},
		"br":         {"clear": keyword("left", "right", "all", "both", "none")},
		"hr":         {"size": number, "width": length, "color": color, "noshade": flag},
		"img":        {"src": nil, "alt": freeText, "width": length, "height": length, "border": number, "hspace": number, "vspace": number},
		"li":         {"type": listType, "value": number},
		"ol":         {"type": listType, "start": number},
		"ul":         {"type": listType},
		"pre":        {"width": number},
		"table":      {"width": length, "height": length, "border": number, "cellpadding": length, "cellspacing": length, "bgcolor": color, "bordercolor": color},
		"caption":    {"valign": vertical},
		"tbody":      {"valign": vertical, "bgcolor": color},
		"thead":      {"valign": vertical, "bgcolor": color},
		"tfoot":      {"valign": vertical, "bgcolor": color},
		"tr":         {"valign": vertical, "bgcolor": color, "height": length},
		"td":         cell,
		"th":         cell,
		"blockquote": {}, "center": {}, "div": {}, "p": {}, "span": {},
	}, "abbr", "acronym", "address", "article", "aside", "b", "bdi", "bdo", "big", "cite", "code", "dd", "del", "dfn", "dl",
		"dt", "em", "figcaption", "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "i", "ins", "kbd", "main",
		"mark", "q", "s", "samp", "section", "small", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"),
}

var cell = attrs{
	"width": length, "height": length, "valign": vertical, "bgcolor": color,
	"colspan": number, "rowspan": number, "nowrap": flag,
}

var noticeRules = rules{
	href:   noticeHref,
	global: attrs{"dir": keyword("ltr", "rtl", "auto"), "lang": language},
	elements: with(map[string]attrs{
		"a":  {"href": nil, "title": freeText},
		"ol": {"type": listType, "start": number},
		"td": {"colspan": number, "rowspan": number},
		"th": {"colspan": number, "rowspan": number},
	}, "abbr", "b", "blockquote", "br", "code", "dd", "del", "dl", "dt", "em", "h1", "h2", "h3", "h4", "hr", "i", "ins", "kbd",
		"li", "mark", "p", "pre", "s", "small", "strong", "sub", "sup", "table", "tbody", "thead", "tr", "u", "ul"),
}

// with adds the elements that have no attributes of their own.
func with(elements map[string]attrs, plain ...string) map[string]attrs {
	for _, name := range plain {
		elements[name] = nil
	}
	return elements
}
