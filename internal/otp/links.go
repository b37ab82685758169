package otp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

const (
	mostLinks   = 5 // given
	mostRefused = 16
	maxLinkLen  = 2048
)

// wanted is the rank from which a link is given.
const wanted = 4

// ranked is a link and how likely it is wanted.
type ranked struct {
	url      string
	rank     int
	front    bool // it leads to the front page of a site
	first    int  // where the mail has it first
	link     int  // the one of the page that speaks most for it
	fallback bool // nothing is said of it, but the subject asks for one and there is no other
	evidence
}

// evidence is what the words beside a link say of it.
type evidence struct {
	what    lexicon.Purpose // what they are about
	opens   bool            // they ask to open a link
	views   bool            // it is written on words for looking at something
	signsUp bool            // it is written on words for making an account
	aside   bool            // they may be said of something else
	within  bool            // so may the sentence that it stands in
}

// linker ranks the links of a text.
type linker struct {
	p        *lexicon.Text
	from     string          // the sender's address
	mark     int             // the first one in the stretch that was looked at last
	asks     bool            // the subject is about signing in, verifying or an invitation
	subject  lexicon.Purpose // what it is about
	denied   bool            // the words beside the link that was looked at last cancel or report
	refused  []string        // the links of which they do
	reasons  *[]string       // collects what speaks for and against a link; nil: nothing does
	evidence                 // of the link that was looked at last
}

// bestLinks ranks the links that verify or sign in, or by which one joins others, and finds
// the one that the mail asks to open. If explain is set, it returns every link with the reasons
// for its rank.
func bestLinks(p *lexicon.Text, from string, explain bool, to *Result) []LinkCandidate {
	end := 0
	for i := range p.Links {
		end = max(end, p.Links[i].End)
	}
	p.Find(end)
	if len(p.Links) == 0 {
		return nil
	}
	r := linker{p: p, from: from}
	r.asks = len(p.Lines) > 0 && r.readSubject()
	if explain {
		r.reasons = new([]string)
	}
	found, all := r.rank()
	for _, f := range found[:min(len(found), mostLinks)] {
		to.Links = append(to.Links, f.url)
	}
	to.Action, to.Refused = r.action(found), r.refused
	return all
}

// rank returns the links that are wanted, best first. A link that nothing speaks against is
// wanted if the subject asks for one and there is no other.
func (r *linker) rank() (found []ranked, all []LinkCandidate) {
	fallback, others := -1, false
	for i := range r.p.Links {
		l := &r.p.Links[i]
		words := r.weighWords(i)
		if r.views && words > 0 {
			words += r.weigh(viewedInText, "its text is for looking at something")
		}
		if r.denied && len(r.refused) < mostRefused && isUsable(r.p, l) {
			l.Unescape()
			r.refused = append(r.refused, l.Url)
		}
		if r.reasons != nil {
			all = append(all, r.explain(l, words))
		}
		if words < 0 {
			continue
		}
		rank := 0
		if !l.Escaped || r.showsAddress(l) || !isUnwanted(l.Url, words) {
			l.Unescape()
			rank = rankURL(r.address(l), words)
		}
		rank = r.weighSubject(l, rank)
		switch {
		case rank < 0:
		case rank < wanted: // as most are
			if r.asks && !others && !IsFrontPage(l.Url) && isUsable(r.p, l) {
				others = others || fallback >= 0 && r.p.Links[fallback].Url != l.Url
				fallback = i
			}
		case !isUsable(r.p, l):
		default:
			if k := slices.IndexFunc(found, func(f ranked) bool { return f.url == l.Url }); k >= 0 {
				if found[k].rank < rank {
					found[k].rank, found[k].link, found[k].evidence = rank, i, r.evidence
				}
			} else {
				found = append(found, ranked{url: l.Url, rank: rank, front: IsFrontPage(l.Url) || r.showsFrontPage(l), first: firstLink(r.p, i), link: i, evidence: r.evidence})
			}
		}
	}
	if len(found) == 0 && fallback >= 0 && !others {
		r.p.Links[fallback].Unescape()
		return []ranked{{url: r.p.Links[fallback].Url, link: fallback, fallback: true}}, all
	}
	slices.SortFunc(found, func(a, b ranked) int {
		if a.front != b.front { // the site's front page is what a mail names beside a link
			if a.front {
				return 1
			}
			return -1
		}
		return cmp.Or(b.rank-a.rank, compareKnown(a, b), cmp.Compare(scheme(b), scheme(a)), a.first-b.first) // https before http
	})
	return found, all
}

// compareKnown puts a link of which it is said what it is for before one of which it is not.
func compareKnown(a, b ranked) int {
	if known := kindOf(a.what) != ""; known != (kindOf(b.what) != "") {
		if known {
			return -1
		}
		return 1
	}
	return 0
}

// showsAddress reports whether a link is written on an address.
func (r *linker) showsAddress(l *page.Link) bool {
	const scheme = "http"
	if l.Typed || l.End-l.Start < len(scheme) {
		return false
	}
	for i, c := range scheme {
		if r.p.Low[l.Start+i] != c {
			return false
		}
	}
	label := r.label(l)
	return isWeb(label) && !strings.Contains(label, " ")
}

// address is where a link leads, as far as the mail shows: the address that it is written on says it where a tracker
// hides the other, but says less where it is cut off: "https://acme.example/veri…".
func (r *linker) address(l *page.Link) string {
	if !r.showsAddress(l) {
		return l.Url
	}
	shown := r.label(l)
	if strings.Contains(shown, "…") || strings.Contains(shown, "...") {
		host, _ := hostPath(shown)
		if leads, _ := hostPath(l.Url); strings.EqualFold(host, leads) {
			return l.Url
		}
	}
	return shown
}

// showsFrontPage reports whether a link is written on the address of a front page, which a tracker hides.
func (r *linker) showsFrontPage(l *page.Link) bool {
	label := r.label(l)
	if strings.ContainsAny(label, " @") || !strings.Contains(label, ".") {
		return false
	}
	return IsFrontPage(label) && (strings.Contains(label, "://") || !strings.Contains(label, "/"))
}

// scheme is the scheme of a link's address, in lower case.
func scheme(r ranked) string {
	name, _, _ := strings.Cut(r.url, ":")
	return strings.ToLower(name)
}

// weighSubject adds to the rank of the link that was looked at last what the subject says of it.
func (r *linker) weighSubject(l *page.Link, rank int) int {
	if !r.asks || rank <= 0 {
		return rank
	}
	rank += saidInSubject
	if r.what&r.subject != 0 {
		rank += alikeSubject
	}
	if rank >= wanted && r.repeatsSubject(l) {
		rank++
	}
	return rank
}

// isUsable reports whether a link leads to the web and is not of a quoted mail.
func isUsable(p *lexicon.Text, l *page.Link) bool {
	return isWeb(l.Url) && len(l.Url) <= maxLinkLen && !p.InQuotedMail(l.Start)
}

// firstLink is the first link to where the link i leads.
func firstLink(p *lexicon.Text, i int) int {
	for k := range p.Links[:i] {
		p.Links[k].Unescape()
	}
	return slices.IndexFunc(p.Links, func(l page.Link) bool { return l.Url == p.Links[i].Url && isUsable(p, &l) })
}

func isWeb(url string) bool {
	return len(url) > 8 && (strings.EqualFold(url[:8], "https://") || strings.EqualFold(url[:7], "http://"))
}

// What words beside a link give to its rank. What it is written on says more than what
// leads up to it, and either more than its address.
const (
	saidInText    = 12
	mayBeSaid     = 8 // in its text, which says nothing of the kind of action
	saidAlone     = 2 // as a button does, and no link in a sentence
	saidBefore    = 8
	saidAbove     = 3 // in a sentence that ends before it
	saidInSubject = 2
	alikeSubject  = 2 // for the same as the link itself
	deniedInText  = -20
	deniedBefore  = -14
	deniedAbove   = -6
	warnedInText  = -8 // "wasn't you?"
	inFooter      = -10
	viewedInText  = -4 // "view details"
	saidWithin    = -2
)

// said is what a stretch of the text says of a link beside it.
type said struct {
	wants   bool
	names   bool // a kind of action, by a word that may be of another language
	denies  bool
	cancels bool
	warns   bool
	done    bool
	reports bool // that it is done, or ended
	opens   bool // they ask to open a link
	views   bool // or to look at something
}

// weighWords weighs the words that a link is written on, and those that lead up to it.
func (r *linker) weighWords(i int) (rank int) {
	l := &r.p.Links[i]
	r.evidence, r.denied = evidence{}, false
	if len(r.p.Lines) == 0 { // the mail is but a link on a picture
		return 0
	}
	own, line := r.line(l)
	start, end := l.Start, l.End
	if l.Typed { // the address is no word, and what stands before it is as good as its text
		end = max(own.Start, l.End-utf8.RuneCountInString(l.Url))
		start = max(r.wordsStart(i, own.Start), end-maxBefore)
	}
	if own.InFoot(start) {
		rank = r.weigh(inFooter, "in a footer")
	}
	text := r.readText(l, own, start, end)
	switch {
	case text.denies:
		r.denied = text.cancels
		rank += r.weigh(deniedInText, "its text cancels or reports")
	case text.wants:
		if text.names {
			rank += r.weigh(saidInText, "its text asks for it")
			if own.Link && !l.Typed {
				rank += r.weigh(saidAlone, "it stands alone")
			}
		} else {
			rank += r.weigh(mayBeSaid, "its text may ask for it")
		}
		if !l.Typed && r.hasObjection(i) {
			rank += r.weigh(deniedBefore, "the words before it object to what has happened")
		}
	}
	if text.warns && !l.Typed {
		rank += r.weigh(warnedInText, "its text warns")
	}
	if rank != 0 || text.wants {
		return rank
	}
	if l.Typed && r.hasWords(start, end) {
		return r.weighAfter(i, own)
	}
	if !l.Typed && (r.hasWords(max(own.Start, start-maxBefore), start) || !own.Link && r.hasWords(start, end) && r.opensLink(own, l)) {
		return r.weighSentence(i, own)
	}
	if line == 0 || !l.Typed && !own.Link {
		return rank
	}
	return rank + r.weighAbove(i, own.Part, &r.p.Lines[line-1])
}

// weighSentence weighs the sentence that the link i stands in, which has words before it. They may be said of
// something else where nothing leads up to the link: "Bo invited you to <Team>".
func (r *linker) weighSentence(i int, own *page.Line) int {
	l := &r.p.Links[i]
	rank := r.weighBefore(r.wordsStart(i, own.Start), l.Start)
	if rank == 0 {
		rank = r.weighAfter(i, own)
	}
	if rank <= 0 || r.leadsUp(own.Start, l.Start) || strings.Contains(r.label(l), "://") || r.opensLink(own, l) {
		return rank
	}
	r.aside, r.within = true, true
	return rank + r.weigh(saidWithin, "its text is part of the sentence")
}

// weighAbove weighs the line above the link i, which is alone on its own.
func (r *linker) weighAbove(i int, part page.Part, above *page.Line) int {
	if above.Part != part || above.Link {
		return 0
	}
	from := r.wordsStart(i, above.Start)
	if !r.p.Links[i].Typed {
		return r.weighBefore(from, above.End)
	}
	if from > above.Start && r.hasWords(from, above.End) { // they go on behind another address to this one
		if words := r.read(from, above.End); words.wants && !words.denies {
			return r.weigh(saidInText+1, "the words above go on to it")
		}
	}
	rank := r.weighBefore(from, above.End)
	if rank == saidAbove && r.what&^lexicon.Cancels != 0 {
		rank += r.weigh(1, "as it stands alone")
	}
	return rank
}

// line returns the line that a link ends on, and its index. The text must have lines.
func (r *linker) line(l *page.Link) (own *page.Line, index int) {
	index = r.p.LineAt(max(l.Start, l.End-1))
	return &r.p.Lines[index], index
}

// trimEnd returns the end of a stretch of the text without the white space there.
func (r *linker) trimEnd(from, to int) int {
	for to > from && r.p.Low[to-1] <= ' ' {
		to--
	}
	return to
}

// wordsStart returns where the words before the link i begin, not before a place: behind the
// address that stands there as text, since addresses are no words.
func (r *linker) wordsStart(i, from int) int {
	if i > 0 {
		if l := &r.p.Links[i-1]; l.Typed {
			return max(from, l.End)
		}
	}
	return from
}

// maxBefore is how far before a link its words may stand, in runes.
const maxBefore = 240

// weighBefore weighs the words that lead up to a link. Its last sentence decides whether it is about
// cancelling, and an earlier one may say what is wanted.
func (r *linker) weighBefore(from, to int) int {
	to = r.trimEnd(from, to)
	from = max(from, to-maxBefore)
	wants, denies := saidBefore, deniedBefore
	if r.endsSentence(from, to) {
		wants, denies = saidAbove, deniedAbove
	}
	last := r.lastSentence(from, to)
	words := r.read(last, to)
	if last > from && !words.wants && !words.denies {
		words = r.read(from, last)
	}
	rank := 0
	if words.wants && !(wants == saidAbove && words.done) || words.names && wants == saidBefore {
		rank += r.weigh(wants, "the words before it ask for it")
		r.aside = wants == saidAbove && !words.opens || words.views
	}
	if words.denies {
		r.denied = words.cancels
		rank += r.weigh(denies, "the words before it are about cancelling or reporting")
	}
	return rank
}

// weigh returns a weight, and notes what it is for where that is asked.
func (r *linker) weigh(weight int, why string) int {
	if r.reasons != nil {
		*r.reasons = append(*r.reasons, fmt.Sprintf("%+d %s", weight, why))
	}
	return weight
}

// isSentenceEnd reports whether r ends a sentence and does not lead up to what follows.
func isSentenceEnd(r rune) bool {
	switch r {
	case '.', '!', '?', '。', '！', '？', '।', '۔', '؟':
		return true
	}
	return false
}

// endsSentence reports whether a stretch ends with the end of a sentence.
func (r *linker) endsSentence(from, to int) bool {
	to = r.trimEnd(from, to)
	return to > from && isSentenceEnd(r.p.Low[to-1])
}

// opensLink reports whether the sentence that a link stands in asks to open it.
func (r *linker) opensLink(own *page.Line, l *page.Link) bool {
	from := r.lastSentence(max(own.Start, l.Start-maxBefore), l.Start)
	return r.p.Purpose(from, min(own.End, l.End+maxBefore))&lexicon.Opens != 0
}

// leadsUp reports whether a stretch ends with a sign that leads up to what follows.
func (r *linker) leadsUp(from, to int) bool {
	to = r.trimEnd(from, to)
	return to > from && (r.p.Low[to-1] == ':' || r.p.Low[to-1] == '：')
}

// hasWords reports whether there are words in a stretch.
func (r *linker) hasWords(from, to int) bool {
	for i := from; i < to; i++ {
		if r.p.Kind[i]&(page.Spaced|page.Dense) != 0 {
			return true
		}
	}
	return false
}

// read reads a stretch of the text.
func (r *linker) read(from, to int) (s said) {
	r.mark = r.p.MarkFrom(from, r.mark)
	var class lexicon.Class
	for i := r.mark; i < len(r.p.Marks) && r.p.Marks[i].Start < to; i++ {
		class |= r.p.Marks[i].Class
	}
	s.wants, s.denies, s.warns = class&lexicon.Auth != 0, class&lexicon.Foot != 0, class&lexicon.Guard != 0
	s.done, s.reports = class&lexicon.Done != 0, class&(lexicon.Done|lexicon.Outcome) != 0
	what := r.p.Purpose(from, to)
	s.cancels, s.names, s.views = cancels(what), what&lexicon.Kinds != 0, what&lexicon.Views != 0
	s.opens, s.reports = what&lexicon.Opens != 0, s.reports || what&lexicon.Reports != 0
	s.wants = s.wants || what&(lexicon.Invites|r.subject) != 0 || s.names && s.opens
	if s.cancels && what&(lexicon.Kinds|lexicon.Accepts) != 0 && r.isChoice(from, to) {
		s.cancels, s.wants = false, true
	}
	s.denies = s.denies || s.cancels
	r.opens = r.opens || s.opens
	if r.what == 0 {
		r.what = what & (lexicon.Kinds | lexicon.Cancels)
	}
	return s
}

// cancels reports whether words are about cancelling. In some languages one cancels a lock.
func cancels(what lexicon.Purpose) bool {
	return what&lexicon.Cancels != 0 && what&lexicon.Unlocks == 0
}

// readSubject reports whether the subject is about signing in, verifying or an invitation.
func (r *linker) readSubject() bool {
	l := &r.p.Lines[0]
	if l.Part != page.InSubject {
		return false
	}
	s := r.read(l.Start, l.End)
	r.subject = r.what
	return s.wants && !s.denies && !s.reports
}
