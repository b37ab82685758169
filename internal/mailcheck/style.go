package mailcheck

import (
	"strings"

	"github.com/gonebox/gonebox/internal/css"
)

// use is a feature that declarations have.
type use struct {
	trigger
	property string
	times    int  // how often
	each     bool // every time counts, not every element
	offset   int  // where it is first, in the HTML
}

// uses collects the features of the declarations of a rule or of an inline style.
type uses struct {
	all        []use
	properties []string // that are declared

	size bool // there is a width
	tall bool // there is a height

	nested int // rules within the declarations, so far
}

// maxUses is how many features of declarations are kept with their property, since each is compared with all. Ordinary rules have some ten.
const maxUses = 256

// maxNested bounds the rules within one rule, since each costs as much as what follows it is long.
const maxNested = 64

// add adds what shows features in the declaration that was read last.
func (u *uses) add(found []trigger, offset int, each bool) {
	if len(found) == 0 {
		return
	}
	property := ""
	if n := len(u.properties); n > 0 && len(u.all) < maxUses {
		property = u.properties[n-1]
	}
next:
	for _, t := range found {
		for i := range u.all {
			if e := &u.all[i]; e.feature == t.feature && e.property == property {
				e.times++
				e.weighs = e.weighs || t.weighs
				continue next
			}
		}
		u.all = append(u.all, use{t, property, 1, each, offset})
	}
}

// declarations adds the features of the declarations in text, which begins at offset.
func (t *triggers) declarations(u *uses, text string, offset int) {
	for declaration := range css.SplitOutside(text, ";") {
		t.declaration(u, declaration, offset)
		offset += len(declaration) + 1
	}
}

// declaration adds the features of a declaration. Blocks in it are those of nested rules, whose declarations count as well.
func (t *triggers) declaration(u *uses, text string, offset int) {
	start := css.RuleStart(text, 0)
	text, offset = text[start:], offset+start
	colon := css.IndexOutside(text, 0, ":{")
	if colon == len(text) {
		return
	}
	if brace := css.IndexOutside(text, 0, "{"); brace < len(text) {
		t.nested(u, text, brace, offset)
		return
	}
	name := strings.ToLower(strings.TrimSpace(text[:colon]))
	u.properties = append(u.properties, name)
	switch name {
	case "width", "max-width":
		u.size = true
	case "height", "max-height":
		u.tall = true
	}
	if strings.HasPrefix(name, "--") {
		u.add([]trigger{t.variables}, offset, false)
	}
	u.add(t.properties[name], offset, false)
	t.value(u, name, text[colon+1:], offset+colon+1)
}

// nested adds the features of a rule within the declarations of another, and of the declarations behind it.
func (t *triggers) nested(u *uses, text string, brace, offset int) {
	u.add([]trigger{t.nesting}, offset, false)
	if u.nested++; u.nested > maxNested {
		return
	}
	end := css.IndexOutside(text, brace+1, "}")
	t.declarations(u, text[brace+1:end], offset+brace+1)
	if end < len(text) {
		t.declarations(u, text[end+1:], offset+end+1)
	}
}

// value adds the features of the value of a property.
func (t *triggers) value(u *uses, property, text string, offset int) {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case '0' <= c && c <= '9' || c == '.' && i+1 < len(text) && '0' <= text[i+1] && text[i+1] <= '9':
			end := numberEnd(text, i)
			unit := unitEnd(text, end)
			u.add(t.units[strings.ToLower(text[end:unit])], offset+i, true)
			i = max(unit, i+1)
		case c == '#':
			i++
			for i < len(text) && isNameByte(text[i]) { // a colour, which may look like a number with a unit
				i++
			}
		case c == '!':
			end := i + 1
			for end < len(text) && (css.IsSpace(text[end]) || isNameByte(text[end])) {
				end++
			}
			if strings.EqualFold(strings.TrimSpace(text[i+1:end]), "important") {
				u.add(t.keywords["!important"], offset+i, false)
			}
			i = end
		default:
			i = t.word(u, property, text, i, offset)
		}
	}
}

// word adds the features of the word or other token at i, and returns where it ends.
func (t *triggers) word(u *uses, property, text string, i, offset int) int {
	if end := css.TokenEnd(text, i); end > i+1 {
		return end // a string, a comment, an address
	}
	name, rest := css.Identifier(text[i:])
	if name == "" {
		return i + 1
	}
	lower := strings.ToLower(name)
	if strings.HasPrefix(rest, "(") {
		u.add(t.functions[lower], offset+i, false)
	} else {
		u.add(t.keywords[lower], offset+i, lower == "initial")
		u.add(t.values[property+":"+lower], offset+i, false)
	}
	return i + len(name)
}

func numberEnd(text string, i int) int {
	for i < len(text) && ('0' <= text[i] && text[i] <= '9' || text[i] == '.') {
		i++
	}
	return i
}

func unitEnd(text string, i int) int {
	if i < len(text) && text[i] == '%' {
		return i + 1
	}
	for i < len(text) && isNameByte(text[i]) {
		i++
	}
	return i
}

func isNameByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c >= 0x80
}
