package sanitize

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"github.com/gonebox/gonebox/internal/css"
)

// Limits of what style sheets may add to the output of one mail.
const (
	maxInlined        = 1 << 20  // bytes of style attributes beyond those of the mail itself
	maxOwn            = 400      // declarations for every width that one element may have; with more it keeps its own style
	maxKnown          = 500      // results of look that are cached, so that a style sheet cannot make the cache large
	maxElementClasses = 64       // rules within @media that are tried for one element
	maxMediaClasses   = 1000     // rules within @media in the style element of the output
	maxMediaRule      = 4 << 10  // bytes of the declarations of one of these rules
	maxMediaText      = 64 << 10 // bytes of the style element of the output
)

// The levels of the cascade, lowest first (CSS Cascading and Inheritance Level 4 §6.1). Between declarations of the same
// level, that of the more specific selector wins, then the later one.
const (
	sheetNormal = iota
	inlineNormal
	sheetImportant
	inlineImportant
)

// ranked is a declaration with its rank in the cascade; the higher rank wins.
type ranked struct {
	declaration
	rank uint64
}

func rank(level int, specificity uint32, order int) uint64 {
	return uint64(level)<<56 | uint64(specificity)<<32 | uint64(order)
}

// level returns the level of the cascade that r belongs to.
func (r ranked) level() int { return int(r.rank >> 56) }

// styler works out the style of each element from the style sheets of the mail. What holds at every width becomes the
// element's style attribute. What holds at some widths becomes a rule of its own in the style element, whose selector is
// a class that is made for it. Everything in that style element is !important, because else the style attribute would
// win, and left out where it loses to something that holds at every width.
type styler struct {
	sheet *sheet
	scope string
	path  []element // from the root to the present element

	found   []match              // of the present element
	own     []ranked             // of the present element: what holds at every width, lowest rank first
	kept    []ranked             // of own: what is written
	inlined int                  // bytes
	known   map[string]knownLook // by key
	keyBuf  []byte

	classes map[mediaRule]int // number of the class
	media   []mediaRule       // by number
	text    int               // bytes of media
}

// mediaRule is a rule of the style element.
type mediaRule struct {
	rank            uint64
	condition, text string
}

// scopeClass returns the class of the element around a mail: a hash of seed, so that any text gives a valid class name.
func scopeClass(seed string) string {
	sum := sha256.Sum256([]byte(seed))
	return "m" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:5]))
}

// newStyler returns the styler of a parsed mail, nil if the mail has no style sheet.
func newStyler(doc *html.Node, scope string) *styler {
	sh := newSheet(doc)
	if sh == nil {
		return nil
	}
	return &styler{sheet: sh, scope: scope, classes: make(map[mediaRule]int), known: make(map[string]knownLook)}
}

// enter makes n the present element, below the one before; leave goes back to that.
func (st *styler) enter(n *html.Node) {
	if len(st.path) == cap(st.path) {
		st.path = append(st.path, element{})
	} else {
		st.path = st.path[:len(st.path)+1] // an element that was left has room for the classes of this one
	}
	st.path[len(st.path)-1].read(n)
}

func (st *styler) leave() { st.path = st.path[:len(st.path)-1] }

// look returns the style attribute and the classes of the present element. Its own style attribute is inline; hints are
// declarations that any rule wins over.
func (st *styler) look(hints, inline string) (look, classes string) {
	st.found = st.sheet.lookup(st.path, st.found[:0])
	if len(st.found) == 0 {
		look, _ = style(hints + inline)
		return look, ""
	}
	key := st.key(hints, inline)
	known, ok := st.known[string(key)]
	if !ok {
		known = st.newLook(hints, inline)
		if len(st.known) < maxKnown {
			st.known[string(key)] = known
		}
	}
	added := len(known.merged) - len(known.own)
	if st.inlined+added > maxInlined {
		return known.own, known.classes
	}
	st.inlined += max(0, added)
	return known.merged, known.classes
}

// rootLook returns what look returns without rules for a width. The root is not written, so nothing could carry them.
func (st *styler) rootLook(inline string) string {
	st.found = st.sheet.lookup(st.path, st.found[:0])
	own, _ := style(inline)
	if st.collect("", inline); len(st.found) == 0 || len(st.own) > maxOwn {
		return own
	}
	return st.merge(own)
}

// knownLook is a cached result of look. Most rows and cells of a mail look like others.
type knownLook struct {
	own     string // the style attribute of the mail
	merged  string // with the style sheets
	classes string
}

// key returns the cache key of the present element: its rules and its own style.
func (st *styler) key(hints, inline string) []byte {
	key := binary.AppendUvarint(st.keyBuf[:0], uint64(len(st.found)))
	for _, m := range st.found {
		key = binary.AppendUvarint(key, uint64(m.order))
		key = binary.AppendUvarint(key, uint64(m.specificity))
	}
	key = binary.AppendUvarint(key, uint64(len(hints)))
	key = append(append(key, hints...), inline...)
	st.keyBuf = key
	return key
}

// newLook computes the style attribute and the classes of the present element.
func (st *styler) newLook(hints, inline string) knownLook {
	own, _ := style(hints + inline)
	st.collect(hints, inline)
	if len(st.own) > maxOwn {
		return knownLook{own, own, ""}
	}
	merged := own
	if slices.ContainsFunc(st.found, func(m match) bool { return m.condition == "" }) {
		merged = st.merge(own)
	}
	return knownLook{own, merged, st.mediaClasses()}
}

// collect fills own from the rules in found and from the style attribute, lowest rank first.
func (st *styler) collect(hints, inline string) {
	st.own = st.own[:0]
	st.collectInline(hints, sheetNormal)
	for _, m := range st.found {
		if m.condition != "" {
			continue
		}
		for _, d := range m.declarations {
			level := sheetNormal
			if d.important {
				level = sheetImportant
			}
			st.own = append(st.own, ranked{d, rank(level, m.specificity, m.order)})
		}
	}
	st.collectInline(inline, inlineNormal)
	slices.SortStableFunc(st.own, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
}

// collectInline adds the declarations of a style attribute; those that are !important are of the level inlineImportant.
func (st *styler) collectInline(inline string, level int) {
	if len(inline) > maxStyle {
		return
	}
	for text := range css.Declarations(css.WithoutComments(inline)) {
		if d, ok := parseDeclaration(text); ok {
			if d.important {
				st.own = append(st.own, ranked{d, rank(inlineImportant, 0, 0)})
			} else {
				st.own = append(st.own, ranked{d, rank(level, 0, 0)})
			}
		}
	}
}

// merge returns what holds at every width as a style attribute. If that would be too much, the element keeps its own.
func (st *styler) merge(own string) string {
	st.sheet.work -= len(st.own) * len(st.own) / 16
	st.kept = st.kept[:0]
	size := 0
	for i, d := range st.own {
		if !isOverridden(d.declaration, st.own[i+1:]) {
			st.kept = append(st.kept, d)
			size += len(d.name) + len(d.value) + len(": !important;")
		}
	}
	if size > maxStyle {
		return own
	}
	var out strings.Builder
	out.Grow(size)
	for _, d := range st.kept {
		d.write(&out, d.level() == inlineImportant)
	}
	return out.String()
}

// mediaClasses returns the classes of the rules of the style element that the present element needs.
func (st *styler) mediaClasses() string {
	var out strings.Builder
	left := maxElementClasses
	for _, important := range []bool{false, true} {
		for _, m := range st.found {
			if m.condition == "" || left == 0 {
				continue
			}
			left--
			if number, ok := st.class(m, important); ok {
				if out.Len() > 0 {
					out.WriteByte(' ')
				}
				out.WriteString(st.scope + "-" + strconv.Itoa(number))
			}
		}
	}
	return out.String()
}

// class makes the rule for those declarations of m that are important, or those that are not. It gives false if none of
// them has an effect on the present element.
func (st *styler) class(m match, important bool) (number int, ok bool) {
	level := sheetNormal
	if important {
		level = sheetImportant
	}
	at := rank(level, m.specificity, m.order)
	higher := st.own[len(st.own):]
	for i, d := range st.own {
		if d.rank > at {
			higher = st.own[i:]
			break
		}
	}
	st.sheet.work -= 16
	var out strings.Builder
	for _, d := range m.declarations {
		if d.important == important && out.Len() <= maxMediaRule && indexURL(d.value) < 0 {
			effective(&out, d, higher)
			st.sheet.work -= len(higher) / 16
		}
	}
	if out.Len() == 0 || out.Len() > maxMediaRule {
		return 0, false
	}
	r := mediaRule{at, m.condition, out.String()}
	if number, ok = st.classes[r]; !ok {
		size := len(r.condition) + len(r.text) + 64
		if len(st.media) == maxMediaClasses || st.text+size > maxMediaText {
			return 0, false
		}
		number = len(st.media)
		st.classes[r] = number
		st.media = append(st.media, r)
		st.text += size
	}
	return number, true
}

// effective writes d, unless something of higher wins over all of it for certain. What may win over it, or wins over a part
// as the padding of one side over the padding of all, is written behind it once more.
func effective(out *strings.Builder, d declaration, higher []ranked) {
	if isOverridden(d, higher) {
		return
	}
	d.write(out, true)
	written := d.longhands
	for i, h := range higher {
		if out.Len() <= maxMediaRule && indexURL(h.value) < 0 && h.level() != inlineImportant && h.longhands.overlaps(written) &&
			!isOverridden(h.declaration, higher[i+1:]) {
			h.write(out, true)
			written.bits |= h.longhands.bits
		}
	}
}

// styleElement returns the style element, "" if none is needed. The rules stand in the order of the cascade, since their
// selectors are all equally specific.
func (st *styler) styleElement() string {
	if len(st.media) == 0 {
		return ""
	}
	numbers := make([]int, len(st.media))
	for i := range numbers {
		numbers[i] = i
	}
	slices.SortStableFunc(numbers, func(a, b int) int { return cmp.Compare(st.media[a].rank, st.media[b].rank) })
	var out strings.Builder
	out.WriteString("<style>")
	condition := ""
	for _, n := range numbers {
		r := st.media[n]
		if r.condition != condition {
			if condition != "" {
				out.WriteByte('}')
			}
			condition = r.condition
			out.WriteString("@media " + condition + "{")
		}
		out.WriteString("." + st.scope + " ." + st.scope + "-" + strconv.Itoa(n) + "{" + r.text + "}")
	}
	out.WriteString("}</style>")
	return out.String()
}
