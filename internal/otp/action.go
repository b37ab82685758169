package otp

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/optout"
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// ActionKind says what opening a link does.
type ActionKind string

// The kinds of action (docs/spec/messages.md#action).
const (
	Verify ActionKind = "verify"
	SignIn ActionKind = "sign_in"
	Reset  ActionKind = "reset"
	Invite ActionKind = "invite"
	Unlock ActionKind = "unlock"
)

// Action is the link that a mail asks its reader to open.
type Action struct {
	URL        string
	Kind       ActionKind
	Confidence float64 // between 0 and 1
}

// LinkCandidate is a link of a mail, with what spoke for and against it.
type LinkCandidate struct {
	URL     string
	Text    string // what it is written on
	Rank    int    // 4 and more: it is wanted
	Reasons []string
}

// action returns the action among the links that are wanted, best first; nil if there is none.
func (r *linker) action(found []ranked) *Action {
	if len(found) == 0 || found[0].front || len(r.p.Lines) == 0 { // a mail of one picture says nothing
		return nil
	}
	best := found[0]
	l, kind := &r.p.Links[best.link], r.actionKind(best)
	if kind == "" || r.asksOtherwise(best, l, kind) || r.hasOtherUse(best, l) {
		return nil
	}
	return &Action{URL: best.url, Kind: kind, Confidence: certainty(best.rank)}
}

// asksOtherwise reports whether a mail asks for something else than a link of a kind, or for nothing.
func (r *linker) asksOtherwise(f ranked, l *page.Link, kind ActionKind) bool {
	switch {
	case f.fallback && (!r.isButton(l) || kind == Invite && r.isEvent()): // nothing is said of it
	case f.aside && !r.isSupported(f):
	case f.views && !r.isAsked(l):
	case f.signsUp && kind != Invite && !r.isOpened(l):
	case !f.opens && r.isOver(kind, l):
	case kind == SignIn && (r.isAboutPassword() || f.what == 0 && f.rank <= saidInAddress*mostInAddress): // its address alone speaks for it
	case kind == Verify && r.isAboutOffer(l):
	case kind == Invite && !r.isInvited(l):
	default:
		return false
	}
	return true
}

// hasOtherUse reports whether a link is one that mails have beside what they ask for, such as a logo.
func (r *linker) hasOtherUse(f ranked, l *page.Link) bool {
	switch {
	case r.isSubscriptionLink(f):
	case r.namesSender(l):
	case isSocial(r.label(l)):
	case r.inMenu(l) && (f.rank < saidInText || f.what&r.subject == 0):
	case r.isPicture(l) && (f.what == 0 || f.aside): // its address alone speaks for it
	default:
		return false
	}
	return true
}

// isSupported reports whether the subject, or the address of a link, says the same of it as words that
// may be said of something else.
func (r *linker) isSupported(f ranked) bool {
	if f.what&lexicon.Kinds == 0 {
		return r.asks && !f.within
	}
	return r.asks && f.what&r.subject != 0 || kindOf(f.what) == kindOfAddress(r.address(&r.p.Links[f.link]))
}

// isOver reports whether the mail says, before a link, that what the link would be for has happened: that a password
// was changed, or an invitation accepted.
func (r *linker) isOver(kind ActionKind, l *page.Link) bool {
	over, purpose := lexicon.Done|lexicon.Outcome, lexicon.Resets
	own, line := r.line(l)
	switch {
	case r.isOpened(l):
		return false
	case kind == Invite:
		over, purpose = lexicon.Outcome|lexicon.Old, lexicon.Invites
	case kind != Reset || !l.Typed && r.hasWords(own.Start, l.Start): // a sentence goes on to what is left to do
		return false
	}
	for i := range line {
		on := &r.p.Lines[i]
		if on.Part != page.InSubject && (kind == Invite || r.subject&lexicon.Resets != 0) {
			return false
		}
		what := r.p.Purpose(on.Start, on.End)
		if what&purpose != 0 && (kind == Reset && what&lexicon.Reports != 0 || r.hasClass(on.Start, on.End, over)) {
			return true
		}
	}
	return false
}

// isOpened reports whether the line above a link asks to open it.
func (r *linker) isOpened(l *page.Link) bool {
	_, line := r.line(l)
	return line > 0 && r.p.Purpose(r.p.Lines[line-1].Start, r.p.Lines[line-1].End)&lexicon.Opens != 0
}

// isInvited reports whether the subject, the lines above a link or its address are about an invitation, as they are not
// where a mail asks its readers to join a community too.
func (r *linker) isInvited(l *page.Link) bool {
	if r.subject&lexicon.Invites != 0 || kindOfAddress(r.address(l)) == Invite {
		return true
	}
	own, i := r.line(l)
	for i--; i >= 0 && r.p.Lines[i].Part == own.Part; i-- {
		if r.p.Purpose(r.p.Lines[i].Start, r.p.Lines[i].End)&lexicon.Invites != 0 {
			return true
		}
	}
	return l.Typed && r.p.Purpose(own.Start, own.End)&lexicon.Invites != 0
}

// isSocial reports whether a link is written on the name of a social network.
func isSocial(label string) bool {
	switch strings.ToLower(label) {
	case "facebook", "twitter", "x", "instagram", "linkedin", "youtube", "tiktok", "reddit", "pinterest", "telegram", "whatsapp", "discord", "mastodon", "bluesky", "threads", "github", "slack", "medium", "vimeo", "vk", "weibo", "微博", "微信":
		return true
	}
	return false
}

// isAsked reports whether the subject asks for what a link is written on words for.
func (r *linker) isAsked(l *page.Link) bool {
	return r.asks && r.p.Purpose(l.Start, l.End)&r.subject&lexicon.Kinds != 0
}

// isButton reports whether a link of which nothing is said stands by itself as a button does, in a
// mail whose subject asks for more than a sign-in, which it may as well report.
func (r *linker) isButton(l *page.Link) bool {
	if r.subject&(lexicon.Verifies|lexicon.Resets|lexicon.Unlocks|lexicon.Invites) == 0 {
		return false
	}
	own, _ := r.line(l)
	if l.Typed {
		before := strings.TrimSuffix(string(r.p.Raw[max(0, own.Start-2):l.End]), l.Url)
		alone := !r.hasWords(own.Start, l.End-utf8.RuneCountInString(l.Url))
		asks := r.p.Purpose(own.Start, l.End)&(lexicon.Opens|lexicon.Kinds) != 0
		return asks && strings.ContainsAny(before, ":：") || alone && r.subject&lexicon.Invites != 0
	}
	if r.subject == lexicon.Invites { // who asks to join, or has joined, is in the subject too
		return false
	}
	return own.Link && !own.Foot && r.label(l) != "" && r.hasTextAbove(l)
}

// hasTextAbove reports whether something but links stands above a link, as nothing does above a logo.
func (r *linker) hasTextAbove(l *page.Link) bool {
	own, i := r.line(l)
	for i--; i >= 0 && r.p.Lines[i].Part == own.Part; i-- {
		if on := &r.p.Lines[i]; !on.Link && r.hasWords(on.Start, on.End) {
			return true
		}
	}
	return false
}

// isPicture reports whether a link is written on no words.
func (r *linker) isPicture(l *page.Link) bool { return !l.Typed && !r.hasWords(l.Start, l.End) }

// certainty is how sure an action is by the rank of its link.
func certainty(rank int) float64 {
	switch {
	case rank >= saidInText+saidInSubject:
		return 0.99
	case rank >= saidInText:
		return 0.97
	case rank >= saidBefore:
		return 0.9
	case rank >= wanted:
		return 0.75
	}
	return 0.6 // the only link
}

// isSubscriptionLink reports whether a link unsubscribes, leads to preferences or shows the mail in a
// browser.
func (r *linker) isSubscriptionLink(f ranked) bool {
	if optout.Address(f.url) {
		return true
	}
	l := &r.p.Links[f.link]
	if l.Typed {
		own, _ := r.line(l)
		return optout.Sentence(string(r.p.Raw[own.Start:max(own.Start, l.End-utf8.RuneCountInString(l.Url))]))
	}
	return optout.Label(r.label(l))
}

// label is what a link is written on.
func (r *linker) label(l *page.Link) string {
	if l.Typed {
		return ""
	}
	return strings.TrimSpace(string(r.p.Raw[l.Start:max(l.Start, l.End)]))
}

// namesSender reports whether a link is written on the name of the site it leads to or of the sender,
// as a logo and the end of a mail are.
func (r *linker) namesSender(l *page.Link) bool {
	name := letters(r.label(l))
	if name == "" || strings.Contains(r.label(l), "://") {
		return false
	}
	host, _ := hostPath(l.Url)
	_, domain, _ := strings.Cut(r.from, "@")
	for _, host := range [...]string{host, domain} {
		host = strings.TrimPrefix(strings.ToLower(host), "www.")
		if name == letters(host) || slices.ContainsFunc(strings.Split(host, "."), func(label string) bool { return name == letters(label) }) {
			return true
		}
	}
	return false
}

// letters returns the letters and digits of a name in lower case.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// actionKind is what the words of a link say that it is for, or those before it, else the subject,
// else its address. Where none of them does, a link that the subject asks for verifies, and
// another is no action.
func (r *linker) actionKind(f ranked) ActionKind {
	const both = lexicon.Resets | lexicon.SignsIn // to sign in without a password
	what := f.what
	if what&both == both && r.subject&both == lexicon.SignsIn {
		what &^= lexicon.Resets
	}
	if r.asks && r.subject&lexicon.Invites != 0 {
		return Invite // whatever one does to accept
	}
	if k := kindOf(what); k != "" {
		return k
	}
	if k := kindOf(r.subject); k != "" && r.asks {
		return k
	}
	return kindOfAddress(r.address(&r.p.Links[f.link]))
}

// kindOfAddress is the kind that the words of an address say, "" if they say none.
func kindOfAddress(url string) ActionKind {
	_, path := hostPath(strings.ToLower(url))
	if strings.Contains(path, "password") && tokenWords.count(path) > 0 {
		return Reset
	}
	for _, a := range [...]struct {
		kind  ActionKind
		words []string
	}{
		{Reset, []string{"reset", "recover/", "recover?", "account-recover", "recover-account", "recover-password", "password/", "pwauth"}},
		{Unlock, []string{"unlock"}},
		{Invite, []string{"invit", "/join"}},
		{Verify, []string{"verif", "confirm", "activat", "validat"}},
		{SignIn, []string{"signin", "sign-in", "sign_in", "login", "log-in", "magic", "passwordless"}},
	} {
		if slices.ContainsFunc(a.words, func(w string) bool { return strings.Contains(path, w) }) {
			return a.kind
		}
	}
	return ""
}

// kindOf is the kind that words say, "" if they say none.
func kindOf(what lexicon.Purpose) ActionKind {
	switch {
	case what&lexicon.Unlocks != 0:
		return Unlock
	case what&lexicon.Resets != 0:
		return Reset
	case what&lexicon.Invites != 0:
		return Invite
	case what&lexicon.Verifies != 0:
		return Verify
	case what&lexicon.SignsIn != 0:
		return SignIn
	}
	return ""
}

// explain returns a link with the reasons for its rank. words is the weight of the words beside it.
func (r *linker) explain(l *page.Link, words int) LinkCandidate {
	l.Unescape()
	c := LinkCandidate{URL: l.Url, Text: r.label(l), Rank: rankURL(r.address(l), words), Reasons: slices.Clone(*r.reasons)}
	*r.reasons = (*r.reasons)[:0]
	if address := c.Rank - words; address != 0 {
		r.weigh(address, "its address")
	}
	if more := r.weighSubject(l, c.Rank) - c.Rank; more > 0 {
		c.Rank += r.weigh(more, "the subject asks for it")
	}
	c.Reasons = append(c.Reasons, *r.reasons...)
	*r.reasons = (*r.reasons)[:0]
	if IsFrontPage(l.Url) {
		c.Reasons = append(c.Reasons, "the front page of a site")
	}
	if !isUsable(r.p, l) {
		c.Reasons = append(c.Reasons, "of a quoted mail, or no address of the web")
	}
	return c
}
