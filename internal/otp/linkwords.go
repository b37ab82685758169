package otp

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// maxListed is how many links of a list may stand between one and the line above the list.
const maxListed = 4

// hasObjection reports whether the words that lead up to the link i object to what has happened, as
// "If you didn't do this, reset your password" does. A sentence that ends before the link does
// not, unless it asks.
func (r *linker) hasObjection(i int) bool {
	l := &r.p.Links[i]
	own, line := r.line(l)
	from, to := own.Start, l.Start
	if i > 0 && r.p.Links[i-1].End <= to {
		from = max(from, r.p.Links[i-1].End)
	}
	if !r.hasWords(from, to) {
		if r.what&lexicon.Resets != 0 && r.subject&lexicon.Resets == 0 {
			line = r.listStart(line) // of what to do about it, as a notice gives it
		}
		if line == 0 || !own.Link || r.p.Lines[line-1].Part != own.Part || r.p.Lines[line-1].Link {
			return false
		}
		from, to = r.p.Lines[line-1].Start, r.p.Lines[line-1].End
	}
	to = r.trimEnd(from, to)
	if to > from && strings.ContainsRune(".!。！।۔", r.p.Low[to-1]) {
		return false
	}
	what := r.what
	s := r.read(r.lastSentence(max(from, to-maxBefore), to), to)
	r.what = what
	return s.cancels
}

// listStart returns the first line of a list of links that the line of one belongs to. A link that cancels is
// what the words above it lead up to, and no part of a list.
func (r *linker) listStart(line int) int {
	for n := 0; n < maxListed && line > 0; n++ {
		above := &r.p.Lines[line-1]
		if !above.Link || above.Part != r.p.Lines[line].Part || cancels(r.p.Purpose(above.Start, above.End)) {
			break
		}
		line--
	}
	return line
}

// lastSentence returns where the last sentence of a stretch begins.
func (r *linker) lastSentence(from, to int) int {
	for k := to - 2; k > from; k-- {
		if isSentenceEnd(r.p.Low[k]) && (r.p.Low[k+1] <= ' ' || r.p.Kind[k-1]&page.Dense != 0) {
			return k + 1
		}
	}
	return from
}

// maxShort is how long the text of a link may be that says nothing by itself, such as "click here", in runes.
const maxShort = 24

// weighAfter weighs the words of the sentence that goes on behind the link i, as in "Click here to
// confirm your address".
func (r *linker) weighAfter(i int, own *page.Line) int {
	l := &r.p.Links[i]
	if !l.Typed && l.End-l.Start > maxShort || own.InFoot(l.Start) {
		return 0
	}
	to := min(own.End, l.End+maxBefore)
	if i+1 < len(r.p.Links) && r.p.Links[i+1].Start >= l.End {
		to = min(to, r.p.Links[i+1].Start)
	}
	for k := l.End; k < to; k++ {
		if isSentenceEnd(r.p.Low[k]) {
			to = k
		}
	}
	s := r.read(l.End, to)
	switch {
	case s.denies:
		r.denied = s.cancels
		return r.weigh(deniedBefore, "the words behind it are about cancelling or reporting")
	case s.wants:
		r.aside = s.views
		return r.weigh(saidBefore, "the words behind it ask for it")
	}
	return 0
}

// readText reads what a link is written on, from start to end.
func (r *linker) readText(l *page.Link, own *page.Line, start, end int) said {
	text := r.read(start, end)
	what := r.p.Purpose(start, end)
	if end-start > maxShort || text.denies {
		what = 0
	}
	if what&lexicon.Accepts != 0 {
		text.wants, text.names = true, true
		r.what |= lexicon.Invites
	}
	if r.signsUp = what&lexicon.SignsUp != 0 && !text.names; r.signsUp {
		text.wants = true
		if r.what = lexicon.Verifies; r.subject&lexicon.Invites != 0 {
			r.what = lexicon.Invites
		}
	}
	if text.names && (own.Link && !l.Typed && end-start <= maxShort || l.Typed && !r.endsSentence(start, end)) {
		text.wants = true
	}
	if l.Alt != "" && !l.Typed && !r.hasWords(start, end) {
		r.readAlt(l, &text)
	}
	r.views = text.views && !l.Typed
	return text
}

// readAlt adds what the text of a picture says that is all of a link.
func (r *linker) readAlt(l *page.Link, s *said) {
	what := r.p.PurposeOf(l.Alt)
	s.cancels = cancels(what)
	s.denies = s.denies || s.cancels
	s.wants = s.wants || what&lexicon.Kinds != 0
	r.what = what & (lexicon.Kinds | lexicon.Cancels)
}

// inMenu reports whether a link is one of several on its line, as those of a menu are, or of a
// line that is a footer.
func (r *linker) inMenu(l *page.Link) bool {
	if l.Typed || len(r.p.Lines) == 0 {
		return false
	}
	own, _ := r.line(l)
	n := 0
	for i := range r.p.Links {
		if o := &r.p.Links[i]; !o.Typed && own.Start <= o.Start && o.Start < own.End && r.hasWords(o.Start, o.End) {
			if n++; cancels(r.p.Purpose(o.Start, o.End)) { // it refuses what another accepts
				return own.Foot
			}
		}
	}
	return n > 2 && !r.hasLeadIn(l, own) || n > 1 && own.Foot
}

// hasLeadIn reports whether words of a sentence lead up to a link on its line.
func (r *linker) hasLeadIn(l *page.Link, own *page.Line) bool {
	s := r.read(max(own.Start, l.Start-maxBefore), l.Start)
	return s.wants && utf8.RuneCountInString(r.label(l)) <= maxShort
}

// isAboutOffer reports whether a link is written on words about orders or offers, or the subject is
// about an offer: that is confirmed or activated too.
func (r *linker) isAboutOffer(l *page.Link) bool {
	if s := &r.p.Lines[0]; s.Part == page.InSubject {
		if r.hasPhrase(s.Start, s.End, lexicon.Void) {
			return true
		}
		if r.subject&lexicon.Verifies != 0 && !r.hasPhrase(s.Start, s.End, lexicon.Not) {
			return false
		}
	}
	return !l.Typed && r.hasPhrase(l.Start, l.End, lexicon.Void|lexicon.Not) && r.p.Purpose(l.Start, l.End)&lexicon.Accounts == 0
}

// hasClass reports whether a stretch has a phrase of a class.
func (r *linker) hasClass(from, to int, class lexicon.Class) bool {
	for i := r.p.MarkFrom(from, 0); i < len(r.p.Marks) && r.p.Marks[i].Start < to; i++ {
		if r.p.Marks[i].Class&class != 0 {
			return true
		}
	}
	return false
}

// hasPhrase reports whether a stretch has a phrase of a class that is not about signing in
// as well, as the word for an account is.
func (r *linker) hasPhrase(from, to int, class lexicon.Class) bool {
	for i := r.p.MarkFrom(from, 0); i < len(r.p.Marks) && r.p.Marks[i].Start < to; i++ {
		if c := r.p.Marks[i].Class; c&class != 0 && c&lexicon.Auth == 0 {
			return true
		}
	}
	return false
}

// minStem is how many letters two words have in common at the least that are forms of one.
const minStem = 4

// repeatsSubject reports whether a link is written on a word of the subject, whatever its language
// and its form.
func (r *linker) repeatsSubject(l *page.Link) bool {
	subject := &r.p.Lines[0]
	for i := l.Start; !l.Typed && i < min(l.End, l.Start+maxBefore); i++ {
		if !r.p.Boundary(i) {
			continue
		}
		for k := subject.Start; k < min(subject.End, subject.Start+maxBefore); k++ {
			if r.p.Boundary(k) && r.commonLetters(i, k, min(l.End-i, subject.End-k)) >= minStem {
				return true
			}
		}
	}
	return false
}

// commonLetters counts the letters that follow two places and are the same, up to a number.
func (r *linker) commonLetters(i, k, most int) (n int) {
	for n < most && r.p.Kind[i+n]&page.Spaced != 0 && r.p.KeyAt(i+n) == r.p.KeyAt(k+n) {
		n++
	}
	return n
}

// isEvent reports whether the subject names what one joins without an account, such as a webinar:
// the words for an invitation itself do not.
func (r *linker) isEvent() bool {
	l := &r.p.Lines[0]
	for i := range r.p.Marks {
		if m := &r.p.Marks[i]; m.Start < l.End && m.Class&lexicon.Void != 0 && r.p.Purpose(m.Start, m.End)&lexicon.Invites == 0 {
			return true
		}
	}
	return false
}

// isAboutPassword reports whether the subject is about a new password and not about signing in: a link
// to sign in is no link to choose one, and follows where one was chosen.
func (r *linker) isAboutPassword() bool {
	return r.subject&(lexicon.Resets|lexicon.SignsIn) == lexicon.Resets
}

// or is the words between what one accepts by and what one refuses by.
var or = [...]string{
	"or", "oder", "ou", "o", "of", "eller", "ili", "lub", "albo", "nebo", "alebo", "vagy", "sau", "veya", "tai", "või", "vai", "ar", "arba", "atau", "edo",
	"hoặc", "hay", "или", "або", "чи", "ή", "או", "أو", "یا", "या", "বা", "หรือ", "または", "又は", "또는", "或", "或者", "或是", "aŭ", "ose", "немесе", "yoki",
}

// isChoice reports whether a stretch is about accepting or else refusing, as "to accept or decline the
// invitation" is: a word that cancels stands behind "or", and one that does not before it.
func (r *linker) isChoice(from, to int) bool {
	to = min(to, from+maxBefore)
	for _, w := range or {
		word := []rune(w)
		for i := from; i+len(word) < to; i++ {
			end := i + len(word)
			if slices.Equal(r.p.Low[i:end], word) && r.p.Boundary(i) && r.p.Boundary(end) &&
				r.p.Purpose(r.wordBefore(from, i), i)&(lexicon.Kinds|lexicon.Accepts) != 0 && r.p.Purpose(end, r.wordAfter(end, to))&lexicon.Cancels != 0 {
				return true
			}
		}
	}
	return false
}

// maxDense is how many letters of a script without spaces a word is taken to have.
const maxDense = 4

// wordBefore returns where the word before a place begins.
func (r *linker) wordBefore(from, at int) int {
	at = r.trimEnd(from, at)
	for n := 0; at > from && r.p.Low[at-1] > ' ' && (n < maxDense || r.p.Kind[at-1]&page.Dense == 0); n++ {
		at--
	}
	return at
}

// wordAfter returns where the word behind a place ends.
func (r *linker) wordAfter(at, to int) int {
	for at < to && r.p.Low[at] <= ' ' {
		at++
	}
	for n := 0; at < to && r.p.Low[at] > ' ' && (n < maxDense || r.p.Kind[at]&page.Dense == 0); n++ {
		at++
	}
	return at
}
