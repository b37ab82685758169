package otp

// emphasis is how an element sets its text apart from what is around it.
type emphasis uint8

const (
	plainText  emphasis = iota
	strongText          // bold, coded, marked, or larger
	struckText          // crossed out
)

// span is a stretch of the page that is set apart.
type span struct {
	start, end int
	emphasis   emphasis
}

// maxSpans bounds the spans that are kept.
const maxSpans = 1024

// emphasis is what a new element adds to the look of the text around it.
func (h *htmlReader) emphasis(kind elementKind, st style) emphasis {
	switch fresh := st &^ h.top(); {
	case !st.read():
		return plainText
	case fresh&struckStyle != 0:
		return struckText
	case kind&strongElement != 0 || fresh&(bigStyle|wideStyle) != 0:
		return strongText
	}
	return plainText
}

// openSpan begins a span and answers its number, or 0 for plain text.
func (p *page) openSpan(e emphasis) int32 {
	if e == plainText || len(p.spans) == maxSpans {
		return 0
	}
	p.spans = append(p.spans, span{start: len(p.raw), end: maxRunes * 8, emphasis: e})
	return int32(len(p.spans))
}

func (p *page) closeSpan(n int32) {
	if n > 0 {
		p.spans[n-1].end = len(p.raw)
	}
}

// dressed says how a candidate is set: crossed out, or strong with nothing
// else in the same element. Spans lie in the order of their beginnings, and
// few lie inside one another.
func (p *page) dressed(c *candidate, before int) emphasis {
	for i := before - 1; i >= 0 && i >= before-8; i-- {
		p.steps++
		s := &p.spans[i]
		switch {
		case s.end < c.end:
		case s.emphasis == struckText:
			return struckText
		case s.end-s.start <= c.end-c.start+maxTrim:
			return strongText
		}
	}
	return plainText
}

// maxTrim is how many spaces and signs may stand beside a code in its element.
const maxTrim = 4
