package otp

import "unicode"

// brand reports whether a noun is the end of a service's name, and so neither owns a
// number nor says what the mail is about: "Pine Store", "Pine ID". It begins with a
// capital, as does the word before it, which no lexicon has; and the sentence goes
// on, so that it is no label of a number.
func (p *page) brand(m int) bool {
	k := &p.marks[m]
	i := k.start - 1
	if k.class&(classCode|classWord) != 0 || at(p.low, i) != ' ' || i == 0 || p.kind[i-1]&spaced == 0 || !unicode.IsUpper(p.raw[k.start]) {
		return false
	}
	start := p.wordStart(i - 1)
	if !unicode.IsUpper(p.raw[start]) || m > 0 && p.marks[m-1].end > start {
		return false
	}
	switch next := at(p.low, k.end); {
	case next == ' ':
		return !isDigit(at(p.low, k.end+1)) && at(p.low, k.end+1) != '#'
	case p.x.classOf(next) == dense:
		return true
	case next == softBreak || next == hardBreak:
		return p.lines[p.lineAt(k.start)].part == inSubject
	case next == ':': // "code Pine Store: 482913", and not "Pine Store: 482913"
		return m > 0 && p.marks[m-1].class&(classCode|classWord) != 0 && p.near(p.marks[m-1].end, start)
	case next == '-':
		return at(p.low, k.end+1) != ' '
	}
	return false
}
