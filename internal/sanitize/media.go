package sanitize

import (
	"regexp"
	"slices"
	"strings"

	"github.com/gonebox/gonebox/internal/css"
)

// Limits of the conditions of a media rule.
const (
	maxCondition = 256 // bytes, as it is written out
	maxFeatures  = 4   // in one query
)

// condition says when a rule applies: if one of its queries holds. None at all holds always.
type condition []query

// query is a media query that asks for nothing but the width, in the form that is written out.
type query struct {
	screen   bool
	features []string
}

func (c condition) String() string {
	var out strings.Builder
	for i, q := range c {
		if i > 0 {
			out.WriteByte(',')
		}
		if q.screen {
			out.WriteString("screen and ")
		}
		out.WriteString(strings.Join(q.features, " and "))
	}
	return out.String()
}

// and is the condition under which both hold; ok is false if it would be too long.
func (c condition) and(other condition) (both condition, ok bool) {
	switch {
	case len(c) == 0:
		return other, true
	case len(other) == 0:
		return c, true
	}
	for _, a := range c {
		for _, b := range other {
			both = append(both, query{a.screen || b.screen, slices.Concat(a.features, b.features)})
		}
	}
	return both, len(both.String()) <= maxCondition
}

// parseMedia reads the condition of a media rule (Media Queries Level 4 §3). Queries that ask for anything but a screen
// and its width never hold here, and are left out; ok is false if none is left.
func parseMedia(prelude string) (c condition, ok bool) {
	if len(prelude) > 4*maxCondition {
		return nil, false
	}
	prelude = strings.ToLower(strings.Join(strings.Fields(css.WithoutComments(prelude)), " "))
	if prelude == "" {
		return nil, true
	}
	for text := range strings.SplitSeq(prelude, ",") {
		q, valid := parseQuery(text)
		switch {
		case !valid:
		case len(q.features) == 0:
			return nil, true // every screen
		default:
			c = append(c, q)
		}
	}
	return c, len(c) > 0 && len(c.String()) <= maxCondition
}

func parseQuery(text string) (q query, ok bool) {
	text = strings.TrimSpace(text)
	if rest, found := strings.CutPrefix(text, "only "); found {
		text = strings.TrimSpace(rest)
	}
	for first := true; ; first = false {
		var item string
		if strings.HasPrefix(text, "(") {
			item, text, ok = strings.Cut(text[1:], ")")
			feature, known := parseFeature(item)
			if !ok || !known || len(q.features) == maxFeatures {
				return query{}, false
			}
			q.features = append(q.features, feature)
		} else {
			item, text = css.Identifier(text)
			if !first || item != "screen" && item != "all" {
				return query{}, false
			}
			q.screen = item == "screen"
		}
		if text = strings.TrimSpace(text); text == "" {
			return q, true
		}
		if item, text = css.Identifier(text); item != "and" || !strings.HasPrefix(text, " ") {
			return query{}, false
		}
		text = strings.TrimSpace(text)
	}
}

// widthNames are the features that ask for a width, and what they are written as.
var widthNames = map[string]string{
	"min-width": "min-width", "max-width": "max-width", "width>=": "min-width", "width<=": "max-width",
	"min-device-width": "min-device-width", "max-device-width": "max-device-width",
}

var widthValue = regexp.MustCompile(`^(?:0|(?:[0-9]{1,5}|[0-9]{0,5}\.[0-9]{1,4})(?:px|em|rem|pt))$`)

// parseFeature reads what is between the parentheses, as "max-width: 600px" or "width <= 600px".
func parseFeature(text string) (feature string, ok bool) {
	name, value, found := strings.Cut(text, ":")
	name = strings.TrimSpace(name)
	if !found {
		end := strings.IndexByte(text, '=') + 1
		name, value = strings.ReplaceAll(text[:end], " ", ""), text[end:]
	}
	name, value = widthNames[name], strings.TrimSpace(value)
	if name == "" || !widthValue.MatchString(value) {
		return "", false
	}
	return "(" + name + ":" + value + ")", true
}
