package sanitize

import (
	"bytes"
	"html"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gonebox/gonebox/internal/css"
	"github.com/gonebox/gonebox/internal/htmltoken"
)

// Text returns the readable text of HTML, for mail without a text part. Blocks, rows, items and br begin lines of their own, an empty line
// separates paragraphs, items have their mark or number, cells of a row are separated by a space, white space is collapsed outside pre,
// entities are decoded. The address behind a link follows its text in parentheses, and an image that is a link is represented by its alt
// text. What is not shown is left out: the head, scripts and styles, elements hidden by display:none, visibility:hidden or the hidden
// attribute, and invisible filler characters.
//
// It reads the tags one by one and builds no tree, so its time is proportional to the length of src whatever is in it.
func Text(src string) string {
	return textWith(src, "(%)")
}

// SpacedText is Text with spaces around each address, "sign in ( https://app.example/1 )", as Mailpit has it: clients of Mailpit take
// what is not white space for the address.
func SpacedText(src string) string {
	return textWith(src, "( % )")
}

// textWith is Text with the addresses of links in a form in which % stands for the address.
func textWith(src, addresses string) string {
	r := newTextReader(src)
	defer r.release()
	r.addresses = addresses
	for r.next() {
	}
	return string(r.out.buf)
}

// Beginning returns the beginning of the text without the addresses of links, for a preview: at least max octets, if there are so many.
func Beginning(src string, max int) string {
	r := newTextReader(src)
	defer r.release()
	for len(r.out.buf) < max && r.next() {
	}
	return string(r.out.buf)
}

// textReader reads HTML as it is shown.
type textReader struct {
	z         htmltoken.Tokenizer
	out       textWriter
	open      []textElement
	path      htmltoken.Path // the names of open
	anchors   int            // open links
	hidden    int            // open elements that are not shown
	addresses string         // the form of the address behind a link, which % stands for; "": none is written
	links     *links         // nil: they are not collected
	pictures  int            // in the present link, where links are collected
	alt       []string       // the words that stand for them
	newPre    bool           // a pre has just begun, and a line feed here does not count
	opened    int            // how many elements have been opened
	last      joint          // to the text before
}

// textElement is an open element.
type textElement struct {
	name      string
	opened    int        // from 1 on, in the order of the document
	raised    bool       // above or below the line
	items     bool       // its children stand apart from one another
	hides     bool       // its content is not shown
	look      blockKind  // how it is set apart
	space     whiteSpace // in its content
	href      string     // of a link
	start     int        // where its content begins in the output
	before    lastWord   // of a link: what was known where its content begins
	link      int        // the number of the link among those that are collected, counted from 1
	list      listKind
	number    int  // of the next item
	rowGoesOn bool // of a row: its last cell was a single line, so that the next one follows on it

	// What is around it, itself included, so that no search for it takes longer the deeper a document nests.
	lists    int16 // how many lists there are
	lastList int16 // the innermost list in textReader.open, counted from 1; 0: there is none
	lastBox  int16 // the innermost element that is not inline, likewise
}

// maxOpen bounds the elements that are open at once. Further ones have no effect of their own.
const maxOpen = 512

// readers keeps the memory of readers for the next ones. Each mail with HTML is read for its links as it comes in.
var readers = sync.Pool{New: func() any { return new(textReader) }}

// What is kept of a reader at most, so that the few large documents do not hold memory for long.
const (
	keptText = 64 << 10 // octets
	keptOpen = 64       // elements
)

// newTextReader returns a reader of src. The caller releases it.
func newTextReader(src string) *textReader {
	r := readers.Get().(*textReader)
	r.z.Reset(src)
	r.out.buf = slices.Grow(r.out.buf, min(len(src)/2, maxTextBytes))
	return r
}

// release gives the reader back. It keeps nothing of the document.
func (r *textReader) release() {
	if cap(r.out.buf) > keptText || cap(r.open) > keptOpen {
		return
	}
	clear(r.open[:cap(r.open)])
	clear(r.z.Attrs[:cap(r.z.Attrs)])
	r.z.Reset("")
	r.path.Reset()
	*r = textReader{z: r.z, open: r.open[:0], path: r.path, out: textWriter{buf: r.out.buf[:0]}}
	readers.Put(r)
}

// next reads a token. It returns false at the end.
func (r *textReader) next() bool {
	if !r.z.Next() {
		r.closeTo(0)
		return false
	}
	switch r.z.Kind {
	case htmltoken.Text:
		r.text(r.z.Text)
	case htmltoken.StartTag:
		r.start(r.z.Name)
	case htmltoken.EndTag:
		r.end(r.z.Name)
	}
	return true
}

func (r *textReader) start(name string) {
	if name == "noscript" { // mail programs run no scripts
		r.z.NotRaw()
	}
	r.closeTo(r.path.Implied(htmltoken.ElementOf(name)))
	if r.isInHead() && !belongsInHead(name) { // the head has no end tag
		r.closeTo(len(r.open) - 1)
	}
	e := textElement{name: name, look: blockKindOf(name), space: r.space(), hides: isUnread(name)}
	e.attributes(r.z.Attrs)
	r.arrange(&e)
	switch {
	case htmltoken.IsVoid(name):
		if r.hidden == 0 && !e.hides {
			r.void(name)
		} else {
			r.links.area(&r.z, r.out.at())
		}
		return
	case (name == "svg" || name == "math") && r.z.SelfClosing, len(r.open) == maxOpen:
		return
	}
	if r.hidden == 0 {
		r.begin(&e)
	}
	if e.hides {
		r.hidden++
	}
	e.start = r.out.at()
	if name == "a" {
		r.anchor(&e)
	}
	r.push(&e)
	r.newPre = name == "pre" || name == "listing"
}

// push opens an element.
func (r *textReader) push(e *textElement) {
	e.lists, e.lastList, e.lastBox = 0, 0, 0
	if n := len(r.open); n > 0 {
		e.lists, e.lastList, e.lastBox = r.open[n-1].lists, r.open[n-1].lastList, r.open[n-1].lastBox
	}
	if e.list != noList {
		e.lists, e.lastList = e.lists+1, int16(len(r.open)+1)
	}
	if e.look != inlineLook {
		e.lastBox = int16(len(r.open) + 1)
	}
	r.open = append(r.open, *e)
	r.path.Push(htmltoken.ElementOf(e.name))
}

// cut forgets all open elements but the first n.
func (r *textReader) cut(n int) {
	r.open = r.open[:n]
	r.path.Cut(n)
}

// void reads an element without content.
func (r *textReader) void(name string) {
	switch name {
	case "br":
		r.out.lineBreak()
	case "hr":
		r.out.paragraph()
	case "input":
		r.notText()
	case "img":
		r.notText()
		if alt, _ := r.z.Attr("alt"); r.inLink() {
			r.out.words(alt)
			if r.links != nil {
				r.pictures++
				r.alt = append(r.alt, strings.Fields(alt)...)
			}
		}
	case "area":
		r.links.area(&r.z, r.out.at())
	}
}

// inLink reports whether a link is open.
func (r *textReader) inLink() bool { return r.anchors > 0 }

// begin separates an element from what is before it, as a browser shows it.
func (r *textReader) begin(e *textElement) {
	switch {
	case e.hides:
		if e.look != inlineLook && e.look != cellLook {
			r.out.newLine()
		}
	case e.look == cellLook:
		r.out.fresh = true
		if n := len(r.open); n > 0 && r.open[n-1].rowGoesOn {
			r.out.joinLine()
		} else {
			r.out.space()
		}
	case e.look == itemLook:
		r.out.newLine()
		r.out.mark = r.mark(e)
	default:
		if e.name == "table" || e.list != noList || e.space == preserved {
			r.out.joins = false
		}
		r.separate(e, r.lists() > 0)
	}
}

// lists returns how many lists are open.
func (r *textReader) lists() int {
	if n := len(r.open); n > 0 {
		return int(r.open[n-1].lists)
	}
	return 0
}

// separate separates what is before a boundary of an element from what is behind it. inList is whether another element is a list around it.
func (r *textReader) separate(e *textElement, inList bool) {
	switch {
	case e.look == boxLook:
		r.setApart()
	case e.look == paragraphLook && e.list != noList && inList, e.look == blockLook, e.look == itemLook:
		r.out.newLine()
	case e.look == paragraphLook:
		r.out.paragraph()
	}
}

// mark returns the mark of an item, "" if it has none.
func (r *textReader) mark(e *textElement) string {
	if e.name != "li" || e.list == bareList {
		return ""
	}
	mark, depth := "- ", r.lists()
	if depth > 0 {
		list := &r.open[r.open[len(r.open)-1].lastList-1]
		if e.number > 0 {
			list.number = e.number
		}
		switch {
		case list.list == bareList:
			return ""
		case list.list != bulletList:
			mark = numeral(list.list, list.number) + ". "
			list.number++
		}
	}
	return strings.Repeat("  ", min(max(0, depth-1), 8)) + mark
}

func (r *textReader) end(name string) {
	i := r.path.Matching(name)
	switch {
	case i < 0 && (name == "p" || name == "br") && r.hidden == 0: // they make an element of their own (HTML §13.2.6.4.7)
		r.out.newLine()
	case i < 0:
	case isFormatting(name) || name == "span":
		r.endInline(i)
	default:
		r.closeTo(i)
	}
}

// endInline ends the inline element at i. The blocks that are open within it stay open.
func (r *textReader) endInline(i int) {
	if r.open[i].name == "span" && int(r.open[len(r.open)-1].lastBox) > i+1 {
		return // the end tag is ignored
	}
	r.close(&r.open[i])
	inner := r.open[i+1:]
	r.cut(i)
	for k := range inner { // push writes at most the element before the one that is read
		r.push(&inner[k])
	}
}

// closeTo closes the elements from i on. Formatting elements without end tags go on behind the block that they are in.
func (r *textReader) closeTo(i int) {
	if i >= len(r.open) {
		return
	}
	closed := r.open[i:]
	cell := closed[0].look == cellLook
	for k := len(closed) - 1; k >= 0; k-- {
		r.close(&closed[k])
	}
	r.cut(i)
	for k := range closed { // push writes at most the element before the one that is read
		if e := &closed[k]; k > 0 && !cell && isFormatting(e.name) && e.name != "a" && e.hides {
			r.hidden++
			r.push(e)
		}
	}
}

// close writes what stands at the end of an element.
func (r *textReader) close(e *textElement) {
	if e.hides {
		r.hidden--
	}
	if e.href != "" {
		r.anchors--
		r.endAnchor(e)
	}
	if r.hidden > 0 || e.hides {
		return
	}
	if e.look == cellLook {
		r.endCell(e)
		return
	}
	others := r.lists()
	if e.list != noList {
		others--
	}
	r.separate(e, others > 0)
	if e.look == itemLook {
		r.out.mark = ""
	}
}

// maxJoined is how long the text of a cell may be, in octets, for the next cell to follow on its line.
const maxJoined = 200

// endCell ends a cell of a table.
func (r *textReader) endCell(e *textElement) {
	content := bytes.Trim(r.out.from(e.start, maxJoined), " \n")
	goesOn := len(content) > 0 && r.out.at()-e.start < maxJoined && bytes.IndexByte(content, '\n') < 0
	if row := r.path.Innermost("tr"); row >= 0 && len(content) > 0 {
		r.open[row].rowGoesOn = goesOn
	}
	if goesOn {
		r.out.continueLine()
	}
	r.out.joins = false
	r.out.space()
}

// isInHead reports whether the innermost element is a head.
func (r *textReader) isInHead() bool {
	n := len(r.open)
	return n > 0 && r.open[n-1].name == "head"
}

func (r *textReader) space() whiteSpace {
	if len(r.open) == 0 {
		return collapsed
	}
	return r.open[len(r.open)-1].space
}

func (r *textReader) text(s string) {
	if r.isInHead() && strings.TrimLeft(s, css.Space) != "" { // the head has no end tag
		r.closeTo(len(r.open) - 1)
	}
	if r.hidden > 0 {
		return
	}
	s = html.UnescapeString(s)
	r.join(s)
	space := r.space()
	if space == collapsed {
		r.out.words(s)
		return
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if r.newPre {
		s = strings.TrimPrefix(s, "\n")
		r.newPre = false
	}
	for line := range strings.Lines(s) {
		line, ended := strings.CutSuffix(line, "\n")
		if space == preserved {
			r.out.preserve(line)
		} else {
			r.out.words(line)
		}
		if ended {
			r.out.lineBreak()
		}
	}
}

// numeral returns the number of an item as its list shows it.
func numeral(kind listKind, n int) string {
	switch {
	case (kind == lowerLetters || kind == upperLetters) && 1 <= n && n <= 26:
		return string(rune(int(kind) + n - 1))
	case (kind == lowerRoman || kind == upperRoman) && 1 <= n && n < 40:
		s := strings.Repeat("x", n/10) + [...]string{"", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"}[n%10]
		if kind == upperRoman {
			s = strings.ToUpper(s)
		}
		return s
	}
	return strconv.Itoa(n)
}
