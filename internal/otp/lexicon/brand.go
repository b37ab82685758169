package lexicon

import (
	"unicode"

	"github.com/gonebox/gonebox/internal/otp/page"
)

// IsBrand reports whether a noun is the end of a service's name, and so neither owns a
// number nor says what the mail is about: "Pine Store", "Pine ID". It begins with a
// capital, as does the word before it, which no lexicon has; and the sentence goes
// on, so that it is no label of a number.
func (p *Text) IsBrand(m int) bool {
	k := &p.Marks[m]
	if k.Class&(Code|Word) != 0 {
		return false
	}
	start, ok := p.nameBefore(k.Start)
	if !ok || m > 0 && p.Marks[m-1].End > start {
		return false
	}
	switch next := page.At(p.Low, k.End); {
	case next == ' ':
		return !page.IsDigit(page.At(p.Low, k.End+1)) && page.At(p.Low, k.End+1) != '#'
	case p.Letters.ClassOf(next) == page.Dense:
		return true
	case next == page.SoftBreak || next == page.HardBreak || next == '.' || next == ':' || next == 0:
		// "code Pine Store: 482913", and not "Pine Store: 482913"
		return next != ':' && next != '.' && p.Lines[k.Line].Part == page.InSubject || m > 0 && p.Marks[m-1].Class&(Code|Word) != 0 && p.IsNear(p.Marks[m-1].End, start)
	case next == '-':
		return page.At(p.Low, k.End+1) != ' '
	}
	return false
}

// endsName reports whether a word may be the end of a service's name in front of a word
// for a code: it begins with a capital, as does the word before it, which no phrase
// has, and what follows is in small letters or joined by a hyphen.
func (p *Text) endsName(i int) bool {
	start, ok := p.nameBefore(i)
	if n := len(p.matches) - 1; !ok || n > 0 && p.matches[n-1].end > start {
		return false
	}
	if i-start <= 4 && page.At(p.Low, start-1) != ' ' {
		return false // an article opens the sentence: "Su PIN de acceso"
	}
	end := p.WordEnd(i + 1)
	return page.At(p.Low, end) == '-' || page.At(p.Low, end) == ' ' && !unicode.IsUpper(page.At(p.Raw, end+1))
}

// nameBefore returns where the word before a capitalised one begins, if it begins with
// a capital too.
func (p *Text) nameBefore(i int) (start int, ok bool) {
	if !unicode.IsUpper(p.Raw[i]) || i < 2 || p.Low[i-1] != ' ' || p.Kind[i-2]&page.Spaced == 0 {
		return 0, false
	}
	start = p.WordStart(i - 2)
	return start, unicode.IsUpper(p.Raw[start]) && !page.IsDigit(page.At(p.Low, start-1))
}

// namesOther reports whether all phrases that end at a node name what is no code.
func (x *lexicon) namesOther(node int32) bool {
	for t := x.nodes[node].head; t >= 0; t = x.terms[t].more {
		if x.terms[t].class&^(Not|Void|Never) != 0 {
			return false
		}
	}
	return true
}

// inName reports whether a match is the end of a service's name, which says nothing
// of the language of the mail: "Votre code Pine Mobile".
func (p *Text) inName(i int) bool {
	m := &p.matches[i]
	start, ok := p.nameBefore(m.start)
	return ok && m.to <= p.WordEnd(m.start+1) && (i == 0 || p.matches[i-1].end <= start)
}

// CountNames counts the words between two places that name a service, between the word for
// its code and the code: capitalised ones that no phrase has and, if asked for, those of a
// host. A stretch of many words names none.
func (p *Text) CountNames(from, to, mark int, hosts bool) (n int) {
	for i := from; i < min(to, from+page.MaxWord); i++ {
		for mark < len(p.Marks) && p.Marks[mark].End <= i {
			mark++
		}
		if p.Kind[i]&page.Spaced == 0 || !p.Boundary(i) {
			continue
		}
		end := p.WordEnd(i + 1)
		if (unicode.IsUpper(p.Raw[i]) || hosts && p.InHostName(i, end)) && (mark == len(p.Marks) || p.Marks[mark].Start > i || p.IsBrand(mark)) {
			n++
		}
		i = end
	}
	return n
}

// IsNear reports whether little and no break is between two places.
func (p *Text) IsNear(from, to int) bool {
	if to-from > 6 {
		return false
	}
	for _, r := range p.Low[from:to] {
		if r == page.SoftBreak || r == page.HardBreak || r == page.CellBreak || r == '.' {
			return false
		}
	}
	return true
}
