package page

// Boundary reports whether a word of a spaced script does not go on at i.
func (p *Page) Boundary(i int) bool {
	return i <= 0 || p.Kind[i-1]&p.Kind[i]&Spaced == 0
}

// MaxWord bounds how far a word is followed, in runes.
const MaxWord = 64

// WordStart is where the word begins that a place is in.
func (p *Page) WordStart(i int) int {
	for n := i - MaxWord; i > 0 && i > n && !p.Boundary(i); {
		i--
	}
	return i
}

// WordEnd is where the word ends that a place is in or behind.
func (p *Page) WordEnd(i int) int {
	if p.Boundary(i) {
		return i
	}
	return min(p.LettersEnd(i), i+MaxWord)
}

// HasNoDiacritics reports whether there are no diacritics on some letters, eight at most.
func (p *Page) HasNoDiacritics(from, n int) bool {
	return Eight(p.Kind, from)<<BitsBeyond(n)&(everyByte*markedBit) == 0
}

// InHostName reports whether a word is part of a host's name: "code shop.example".
func (p *Page) InHostName(from, to int) bool {
	return At(p.Low, to) == '.' && IsLetter(At(p.Low, to+1)) || At(p.Low, from-1) == '.' && IsLetter(At(p.Low, from-2))
}
