package otp

import "unicode"

// brand reports whether a noun is the end of a service's name, and so neither owns a
// number nor says what the mail is about: "Pine Store", "Pine ID". It begins with a
// capital, as does the word before it, which no lexicon has; and the sentence goes
// on, so that it is no label of a number.
func (p *page) brand(m int) bool {
	k := &p.marks[m]
	if k.class&(classCode|classWord) != 0 {
		return false
	}
	start, ok := p.nameBefore(k.start)
	if !ok || m > 0 && p.marks[m-1].end > start {
		return false
	}
	switch next := at(p.low, k.end); {
	case next == ' ':
		return !isDigit(at(p.low, k.end+1)) && at(p.low, k.end+1) != '#'
	case p.x.classOf(next) == dense:
		return true
	case next == softBreak || next == hardBreak || next == '.' || next == ':' || next == 0:
		// "code Pine Store: 482913", and not "Pine Store: 482913"
		return next != ':' && next != '.' && p.lines[p.lineAt(k.start)].part == inSubject || m > 0 && p.marks[m-1].class&(classCode|classWord) != 0 && p.near(p.marks[m-1].end, start)
	case next == '-':
		return at(p.low, k.end+1) != ' '
	}
	return false
}

// endsName reports whether a word may be the end of a service's name in front of a word
// for a code: it begins with a capital, as does the word before it, which no phrase
// has, and what follows is in small letters or joined by a hyphen.
func (p *page) endsName(i int) bool {
	start, ok := p.nameBefore(i)
	if n := len(p.matches) - 1; !ok || n > 0 && p.matches[n-1].end > start {
		return false
	}
	if i-start <= 4 && at(p.low, start-1) != ' ' {
		return false // an article opens the sentence: "Su PIN de acceso"
	}
	end := p.wordEnd(i + 1)
	return at(p.low, end) == '-' || at(p.low, end) == ' ' && !unicode.IsUpper(at(p.raw, end+1))
}

// nameBefore returns where the word before a capitalised one begins, if it begins with
// a capital too.
func (p *page) nameBefore(i int) (start int, ok bool) {
	if at(p.low, i-1) != ' ' || i < 2 || p.kind[i-2]&spaced == 0 || !unicode.IsUpper(p.raw[i]) {
		return 0, false
	}
	start = p.wordStart(i - 2)
	return start, unicode.IsUpper(p.raw[start]) && !isDigit(at(p.low, start-1))
}

// namesOther reports whether all phrases that end at a node name what is no code.
func (x *lexicon) namesOther(node int32) bool {
	for t := x.nodes[node].head; t >= 0; t = x.terms[t].more {
		if x.terms[t].class&^(classNot|classVoid|classNever) != 0 {
			return false
		}
	}
	return true
}

// inName reports whether a match is the end of a service's name, which says nothing
// of the language of the mail: "Votre code Pine Mobile".
func (p *page) inName(i int) bool {
	m := &p.matches[i]
	start, ok := p.nameBefore(m.start)
	return ok && m.to <= p.wordEnd(m.start+1) && (i == 0 || p.matches[i-1].end <= start)
}

// names counts the capitalised words between two places that no phrase has: of a
// service, between the word for its code and the code. A stretch of many words names
// none.
func (p *page) names(from, to, mark int) (n int) {
	for i := from; i < min(to, from+maxWord); i++ {
		for mark < len(p.marks) && p.marks[mark].end <= i {
			mark++
		}
		if p.kind[i]&spaced == 0 || !p.boundary(i) {
			continue
		}
		if unicode.IsUpper(p.raw[i]) && (mark == len(p.marks) || p.marks[mark].start > i || p.brand(mark)) {
			n++
		}
		i = p.wordEnd(i + 1)
	}
	return n
}
