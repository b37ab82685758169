package page

// Emphasis is how an element sets its text apart from what is around it.
type Emphasis uint8

// The emphases, the least first.
const (
	PlainText  Emphasis = iota
	StrongText          // bold, coded, marked, or larger
	StruckText          // crossed out
)

// span is a stretch of the page that is set apart.
type span struct {
	Start, end int
	emphasis   Emphasis
}

// maxSpans bounds the spans that are kept.
const maxSpans = 1024

// emphasis is what a new element adds to the look of the text around it.
func (h *htmlReader) emphasis(kind elementKind, st style) Emphasis {
	switch fresh := st &^ h.top(); {
	case !st.isOwnText():
		return PlainText
	case fresh&struckStyle != 0:
		return StruckText
	case kind&strongElement != 0 || fresh&(bigStyle|wideStyle) != 0:
		return StrongText
	}
	return PlainText
}

// openSpan begins a span and returns its number, or 0 for plain text.
func (p *Page) openSpan(e Emphasis) int32 {
	if e == PlainText || len(p.Spans) == maxSpans {
		return 0
	}
	p.Spans = append(p.Spans, span{Start: len(p.Raw), end: maxRunes * 8, emphasis: e})
	return int32(len(p.Spans))
}

func (p *Page) closeSpan(n int32) {
	if n > 0 {
		p.Spans[n-1].end = len(p.Raw)
	}
}

// EmphasisOf says how a number is set: crossed out, or strong with nothing
// else in the same element. Spans lie in the order of their beginnings, and
// few lie inside one another.
func (p *Page) EmphasisOf(start, end, before int) Emphasis {
	for i := before - 1; i >= 0 && i >= before-8; i-- {
		p.Steps++
		s := &p.Spans[i]
		switch {
		case s.end < end:
		case s.emphasis == StruckText:
			return StruckText
		case s.end-s.Start <= end-start+maxTrim:
			return StrongText
		}
	}
	return PlainText
}

// maxTrim is how many spaces and signs may stand beside a code in its element.
const maxTrim = 4
