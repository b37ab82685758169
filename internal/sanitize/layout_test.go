package sanitize_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/gonebox/gonebox/internal/sanitize"
)

// layouts are mails in the manner of widespread templates, each in testdata, whose looks stand in style elements. Their
// output is compared by TestLayouts, their pictures by TestLayoutsLookTheSame.
var layouts = []struct {
	name string
	says []expectedStyle
}{
	{"action", []expectedStyle{ // one button, the whole sheet in the head, a query for dark mode
		{"Choose a password", "background-color", "#22BC66", "#22BC66"},
		{"Choose a password", "text-align", "center", "center"},
		{"Choose a password", "width", "100%", "100%"}, // at 700 of its table
		{"Hello Linh", "font-size", "22px", "22px"},
		{"Hello Linh", "padding", "45px", "24px"},
		{"Use this link", "display", "none", "none"},
		{"Boatyard, 3 Harbour", "color", "#A8AAAF", "#A8AAAF"},
	}},
	{"darkmode", []expectedStyle{ // fonts and dark mode that are left out, cells that become rows
		{"Deine Woche in Zahlen", "color", "#0b7285", "#0b7285"},
		{"31", "font-size", "22px", "18px"},
		{"31", "display", "block", "inline-block"},
		{"Läufe", "display", "flow-root", "block"},
		{"KW 14", "border-radius", "10px", "10px"},
	}},
	{"foundation", []expectedStyle{ // nothing is inline; columns are header cells that become inline blocks
		{"Your parcel is on", "font-size", "34px", "34px"},
		{"12 Mill Lane", "width", "100%", "100%"},
		{"Change it until", "color", "#8a8a8a", "#8a8a8a"},
		{"Follow it", "background", "#2199e8", "#2199e8"},
		{"on a large screen", "display", "table", "none"},
		{"on a small screen", "display", "none", "block"},
		{"Expected on", "background", "#def0fc", "#def0fc"},
	}},
	{"fragment", []expectedStyle{ // no head, style elements within and behind the content
		{"Breakfast on", "display", "", "block"},
		{"A room with", "font-size", "26px", "22px"},
		{"Later months", "display", "none", "table"},
		{"Later", "max-height", "", "0"},
		{"€90", "color", "#9a3412", "#9a3412"},
	}},
	{"grid", []expectedStyle{ // small screens first, ranges, nested media rules
		{"Cup, celadon", "width", "33.33%", "100%"},
		{"Plate, iron", "width", "66.66%", "100%"},
		{"Everything else", "display", "inline-block", "none"},
		{"Prices are", "font-size", "11px", "13px"},
		{"New this week", "font-size", "32px", "24px"},
	}},
	{"hybrid", []expectedStyle{ // fluid without media rules, better with them
		{"Concerts in June", "font-size", "25px", "25px"},
		{"A string quartet", "font-size", "15px", "17px"},
		{"A string quartet", "text-align", "left", "center"},
		{"By bus", "max-width", "190px", "100%"},
		{"Tickets", "text-decoration", "none", "none"},
	}},
	{"mjml", []expectedStyle{ // columns of full width unless the screen is wide
		{"Broad beans", "width", "50%", "100%"},
		{"Tuesday", "width", "33.333333333333336%", "100%"},
		{"Spring on", "font-size", "28px", "20px"},
		{"Spring on", "text-transform", "uppercase", "uppercase"},
		{"Unsubscribe", "text-decoration", "none", "none"},
	}},
	{"newsletter", []expectedStyle{ // identifiers, comments within declarations, a media rule for each thing
		{"The new lamp", "font-size", "26px", "22px"},
		{"After a year", "font-size", "16px", "18px"},
		{"how it was built", "color", "#007C89", "#007C89"},
		{"View in the browser", "max-width", "210px", "100%"},
		{"Plan a visit", "color", "#FFFFFF", "#FFFFFF"},
	}},
	{"oldschool", []expectedStyle{ // attribute selectors, an HTML comment around the sheet
		{"Workshop news", "font-size", "26px", "20px"},
		{"Workshop news", "padding", "20px 30px", "10px"},
		{"New in the shop", "font-weight", "bold", "bold"},
		{"Open nine to five", "display", "flow-root", "none"},
		{"planes with", "line-height", "22px", "22px"},
	}},
	{"purchase", []expectedStyle{ // children, first and last of their kind, rules for a width without !important
		{"Receipt from Pine", "font-size", "24px", "20px"},
		{"Amount paid", "letter-spacing", ".5px", ".5px"},
		{"Card ending", "display", "flow-root", "block"},
		{"Amount charged", "border-bottom", "0", "0"},
		{"Filters", "border-bottom", "1px solid #e6ebf1", "1px solid #e6ebf1"},
		{"or call", "display", "flow-root", "none"},
		{"help@pine.example", "color", "#556cd6", "#556cd6"},
	}},
}

// expectedStyle is a property of the element with a text, or of the nearest element around it that sets it, at two widths.
type expectedStyle struct{ text, property, at700, at375 string }

func TestLayoutsKeepTheirLooks(t *testing.T) {
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			src, err := os.ReadFile("testdata/" + l.name + ".in.html")
			if err != nil {
				t.Fatal(err)
			}
			out := sanitize.HTML(string(src), "seed", nil)
			check(t, l.name, out, mailElements, mailAttributes)
			if again := sanitize.HTML(out, "seed", nil); again != out {
				t.Errorf("the output changes when it is sanitized again, want it as it is\n once  %q\n twice %q", out, again)
			}
			page := readPage(t, out)
			for _, want := range l.says {
				for width, value := range map[float64]string{700: want.at700, 375: want.at375} {
					if got := page.styleOf(t, want.text, want.property, width); got != value {
						t.Errorf("%q at %v: %s is %q, want %q", want.text, width, want.property, got, value)
					}
				}
			}
		})
	}
}

// page is output with its style element read.
type page struct {
	doc   *html.Node
	rules []emittedRule
}

func readPage(t *testing.T, out string) page {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	p := page{doc: doc}
	for n := range doc.Descendants() {
		if n.Data == "style" && n.FirstChild != nil {
			var rest string
			if p.rules, rest = emitted(n.FirstChild.Data); rest != "" {
				t.Fatalf("a style element has the rest %q, want only rules of the emitted form", rest)
			}
		}
	}
	return p
}

func (p page) styleOf(t *testing.T, text, property string, width float64) string {
	t.Helper()
	for n := range p.doc.Descendants() {
		if n.Type == html.TextNode && strings.Contains(n.Data, text) && n.Parent.Data != "style" {
			for e := n.Parent; e != nil; e = e.Parent {
				if v := p.declared(e, property, width); v != "" {
					return v
				}
			}
			return ""
		}
	}
	t.Errorf("the page has no text %q, want an element with it", text)
	return ""
}

// declared is the value that wins for one property of one element. Rules win over the style attribute, and later ones over
// earlier.
func (p page) declared(n *html.Node, property string, width float64) (value string) {
	values := map[string]string{}
	for _, a := range n.Attr {
		values[a.Key] = a.Val
	}
	styles := []string{values["style"]}
	for _, r := range p.rules {
		if words(values["class"])[r.class] && holds(r.condition, width) {
			styles = append(styles, r.declarations)
		}
	}
	for decl := range strings.SplitSeq(strings.Join(styles, ";"), ";") {
		if name, v, _ := strings.Cut(decl, ":"); name == property {
			value = strings.TrimSuffix(v, " !important")
		}
	}
	return value
}

var feature = regexp.MustCompile(`\((min|max)-(?:device-)?width:([0-9.]+)([a-z]*)\)`)

// holds reports whether a condition holds on a screen of that width.
func holds(condition string, width float64) bool {
	for query := range strings.SplitSeq(condition, ",") {
		all := true
		for _, f := range feature.FindAllStringSubmatch(query, -1) {
			limit, _ := strconv.ParseFloat(f[2], 64)
			if strings.HasSuffix(f[3], "em") {
				limit *= 16
			}
			all = all && (f[1] == "min" && width >= limit || f[1] == "max" && width <= limit)
		}
		if all {
			return true
		}
	}
	return false
}
