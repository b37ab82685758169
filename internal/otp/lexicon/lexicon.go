package lexicon

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/otp/page"
)

//go:embed *.txt
var lexiconFiles embed.FS

// Class is a set of roles that a phrase plays beside a number.
type Class uint32

// The sections of a lexicon; docs/extraction.md explains them to contributors.
const (
	Code         Class = 1 << iota // names a one-time code by itself
	Word                           // code, PIN: one if the rest of the mail agrees
	Is                             // is: ties the number to the word before
	Use                            // enter, use
	Auth                           // sign in, verify your address
	Guard                          // do not share, expires in, did not ask for this
	Not                            // order, invoice: owns the number beside it
	Void                           // promo code, backup codes: makes the whole mail doubtful
	classSkip                      // source code, QR code: hides the word in it
	Unit                           // minutes, points, euros: the number counts something
	Old                            // expired, previous
	Never                          // meeting ID: the mail holds no one-time code
	Own                            // your, the: may stand before code
	classQuote                     // begins a quoted or forwarded mail
	Foot                           // begins or marks a footer
	Digits                         // these digits: a word for a code in a mail about signing in, and no word at all in another
	Once                           // one-time, single-use: makes a code of the noun beside it
	Where                          // page, box, app, screen: where a code is typed
	Brief                          // minutes: for so long a code is good
	Number                         // number: a code's only if something says so, else it owns the number beside it
	Tell                           // tell him, read it out: a person is to have the number
	Done                           // was changed, was added: the mail reports what has happened
	Approval                       // authorisation code: of a payment, on a receipt
	Confirmation                   // confirmation code: of a booking, if the mail is about one
	classReply                     // Re: opens the subject of a mail that answers another
	Initial                        // change it, at first sign-in: what is good until it is changed
	For                            // for, behind its noun: what the code is for, not what owns it
	classPass                      // Fwd: opens the subject of a mail that is passed on as a whole
	Outcome                        // verified, completed: the subject reports what has happened
	Phrase                         // sign-in phrase: a name of a code that consists of words
	classAim                       // for, to: leads to what a code is for or to whom it was sent
)

var sections = map[string]Class{
	"code": Code, "word": Word, "is": Is, "use": Use, "auth": Auth,
	"guard": Guard, "not": Not, "void": Void, "skip": classSkip, "unit": Unit,
	"old": Old, "never": Never, "own": Own, "quote": classQuote, "foot": Foot,
	"digits": Word | Digits, "phrase": Code | Phrase,
	"once": Once, "where": Where, "brief": Brief | Unit, "number": Number, "tell": Tell, "done": Done, "pass": classPass, "reply": classReply, "for": For, "aim": classAim, "initial": Initial, "approval": Word | Approval, "confirmation": Word | Confirmation, "reported": Done | Auth, "outcome": Outcome, "verified": Outcome | Auth,
}

// maxShort is how long a phrase may be to be matched with its diacritics only:
// Vietnamese "mã" is a code, Italian "ma" is "but".
const maxShort = 4

// maxMarked is how long one may be for its diacritics, where the text has any,
// to have to be the right ones: "mã mời" and "mã mới" are not the same.
const maxMarked = 8

// lexicon is all languages in one: mails mix them, and no guess at the
// language has to be right.
type lexicon struct {
	*trie
	abc     *page.Alphabet
	scratch [2][]rune       // of a phrase on its way in
	letters []rune          // of the phrases with diacritics
	langs   []string        // the files' names; a phrase knows its language by index
	common  [maxLangs]bool  // lexicons of no language
	owns    [maxLangs]bool  // lexicons with a section [own]
	latin   [maxLangs]bool  // languages in Latin letters
	aims    map[string]bool // the words of the sections [aim], folded
	purpose purposes        // the phrases of the sections about links
	unheard [2][2][maxLangs]trust
	always  languages
}

// lexicons is the one lexicon of the process, built on first use; callers wait for
// it. A phrase that cannot be read is left out of it and named by the error.
var lexicons = sync.OnceValues(build)

// Warm builds the lexicon, unless that is done already, and returns which phrases
// cannot be read. It is safe for concurrent use.
func Warm() error {
	_, err := lexicons()
	return err
}

// build reads the embedded files.
func build() (*lexicon, error) {
	x := &lexicon{abc: page.Alphabets(), aims: make(map[string]bool), trie: newTrie(nodes, further, terms)}
	x.entry.long = page.MaxWord
	x.scratch = [2][]rune{make([]rune, 0, page.MaxWord), make([]rune, 0, page.MaxWord)}
	files, err := lexiconFiles.ReadDir(".")
	if err != nil {
		return x, err
	}
	var faults []error
	for _, f := range files {
		text, err := lexiconFiles.ReadFile(f.Name())
		if err != nil {
			return x, err
		}
		x.langs = append(x.langs, strings.TrimSuffix(f.Name(), ".txt"))
		if x.common[len(x.langs)-1] = f.Name() == "und.txt"; x.common[len(x.langs)-1] || f.Name() == "en.txt" {
			x.always.add(len(x.langs) - 1)
		}
		x.latin[len(x.langs)-1] = isLatin(string(text))
		if err := x.load(f.Name(), string(text)); err != nil {
			faults = append(faults, err)
		}
	}
	x.tabulateTrust()
	x.index()
	x.purpose.index()
	return x, errors.Join(faults...)
}

// isLatin reports whether most letters of a text are Latin.
func isLatin(text string) bool {
	n := 0
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf: // most of what is read; the tables of package unicode take longer
			if 'a' <= r|0x20 && r|0x20 <= 'z' {
				n++
			}
		case unicode.Is(unicode.Latin, r):
			n++
		case unicode.IsLetter(r):
			n--
		}
	}
	return n > 0
}

// What the phrases need: nodes, terms, and room for children that are not the
// first, of which at most three quarters are used: a small table stays cached.
const (
	nodes   = 384 << 10
	terms   = 84 << 10
	further = 128 << 10
)

// load enters the phrases of one file.
func (x *lexicon) load(name, text string) error {
	var c Class
	var what Purpose
	for n, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if s, ok := strings.CutPrefix(line, "["); ok {
			c, what = sections[strings.TrimSuffix(s, "]")], purposeSections[strings.TrimSuffix(s, "]")]
			if c == 0 && what == 0 {
				return fmt.Errorf("lexicon/%s:%d: unknown section %q", name, n+1, line)
			}
			continue
		}
		if c == 0 && what == 0 {
			return fmt.Errorf("lexicon/%s:%d: phrase %q before any section", name, n+1, line)
		}
		for alt := range strings.SplitSeq(line, "|") {
			alt = strings.TrimSpace(alt)
			var err error
			if what != 0 {
				err = x.purpose.enter(x.abc, alt, what, len(x.langs)-1)
			} else {
				err = x.enter(alt, c)
			}
			if err != nil {
				return fmt.Errorf("lexicon/%s:%d: %w", name, n+1, err)
			}
		}
	}
	return nil
}

// entry is a phrase on its way into the trie.
type entry struct {
	phrase
	low, keys []rune // as folded, and as the trie knows them
}

// enter adds the phrases that a pattern stands for.
func (x *lexicon) enter(s string, c Class) error {
	x.owns[len(x.langs)-1] = x.owns[len(x.langs)-1] || c == Own
	e := entry{phrase: phrase{class: c, lang: uint8(len(x.langs) - 1)}}
	e.low, e.keys = x.scratch[0][:0], x.scratch[1][:0]
	if c == classAim {
		x.aims[strings.Map(x.abc.Fold, s)] = true
		return nil
	}
	s, e.left = strings.CutPrefix(s, "*")
	if s == "" {
		return fmt.Errorf("empty phrase")
	}
	return x.branch(0, s, e)
}

// branch goes on from a node with the rest of a pattern, once for each word in
// its first braces, as a shell does: kod{,u,em}.
func (x *lexicon) branch(node int32, s string, e entry) error {
	plain, rest, braces := strings.Cut(s, "{")
	if node = x.extend(node, plain, &e); !braces {
		return x.finish(node, e)
	}
	words, rest, ok := strings.Cut(rest, "}")
	if !ok {
		return fmt.Errorf("phrase %q has no closing brace", s)
	}
	for w := range strings.SplitSeq(words, ",") {
		f := e // its letters go where those of the word before went
		if err := x.branch(x.extend(node, w, &f), rest, f); err != nil {
			return err
		}
	}
	return nil
}

// extend follows or makes the edges of some letters.
func (x *lexicon) extend(node int32, s string, e *entry) int32 {
	for _, r := range s {
		f := x.abc.Fold(r)
		if f == 0 || f == ' ' && (len(e.low) == 0 || e.low[len(e.low)-1] == ' ') {
			continue
		}
		k := x.abc.Key(f)
		e.low, e.keys = append(e.low, f), append(e.keys, k)
		node = x.addEdge(node, k)
	}
	return node
}

// finish ends a phrase at a node.
func (x *lexicon) finish(node int32, e entry) error {
	n, letters := len(e.low), 0
	for letters < n && x.abc.ClassOf(e.keys[letters]) == page.Spaced {
		letters++
	}
	switch {
	case n == 0 || n > page.MaxWord:
		return fmt.Errorf("phrase %q is empty or longer than %d letters", string(e.low), page.MaxWord)
	case letters == 1 && slices.Index(e.keys, star) == 1:
		return fmt.Errorf("phrase %q has its star after one letter", string(e.low))
	case n == 1 && x.abc.ClassOf(e.low[0]) != page.Other && e.class&(Is|Unit|Not|Own) == 0:
		return fmt.Errorf("phrase %q is too short", string(e.low))
	}
	e.size, e.exact = uint8(n), -1
	if i := slices.Index(e.keys, star); i >= 0 {
		e.size = uint8(i)
	}
	if e.size <= maxShort || e.size <= maxMarked && !slices.Equal(e.low, e.keys) {
		e.exact, e.plain = int32(len(x.letters)), slices.Equal(e.low, e.keys)
		x.letters = append(x.letters, e.low[:e.size]...)
	}
	x.entry.add(e.keys[:e.size], letters, letters == int(e.size) && letters < n, e.left)
	x.end(node, e.phrase)
	return nil
}
