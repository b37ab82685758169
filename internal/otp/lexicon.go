package otp

import (
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
)

//go:embed lexicon/*.txt
var lexiconFiles embed.FS

// class is a set of roles that a phrase plays beside a number.
type class uint32

// The sections of a lexicon; docs/extraction.md explains them to contributors.
const (
	classCode         class = 1 << iota // names a one-time code by itself
	classWord                           // code, PIN: one if the rest of the mail agrees
	classIs                             // is: ties the number to the word before
	classUse                            // enter, use
	classAuth                           // sign in, verify your address
	classGuard                          // do not share, expires in, did not ask for this
	classNot                            // order, invoice: owns the number beside it
	classVoid                           // promo code, backup codes: makes the whole mail doubtful
	classSkip                           // source code, QR code: hides the word in it
	classUnit                           // minutes, points, euros: the number counts something
	classOld                            // expired, previous
	classNever                          // meeting ID: the mail holds no one-time code
	classOwn                            // your, the: may stand before code
	classQuote                          // begins a quoted or forwarded mail
	classFoot                           // begins or marks a footer
	classDigits                         // these digits: a word for a code in a mail about signing in, and no word at all in another
	classOnce                           // one-time, single-use: makes a code of the noun beside it
	classWhere                          // page, box, app, screen: where a code is typed
	classBrief                          // minutes: for so long a code is good
	classNumber                         // number: a code's only if something says so, else it owns the number beside it
	classTell                           // tell him, read it out: a person is to have the number
	classDone                           // was changed, was added: the mail reports what has happened
	classApproval                       // authorisation code: of a payment, on a receipt
	classConfirmation                   // confirmation code: of a booking, if the mail is about one
	classReply                          // Re: opens the subject of a mail that answers another
	classInitial                        // change it, at first sign-in: what is good until it is changed
	classFor                            // for, behind its noun: what the code is for, not what owns it
	classPass                           // Fwd: opens the subject of a mail that is passed on as a whole
	classPhrase                         // sign-in phrase: a name of a code that consists of words
)

var sections = map[string]class{
	"code": classCode, "word": classWord, "is": classIs, "use": classUse, "auth": classAuth,
	"guard": classGuard, "not": classNot, "void": classVoid, "skip": classSkip, "unit": classUnit,
	"old": classOld, "never": classNever, "own": classOwn, "quote": classQuote, "foot": classFoot,
	"digits": classWord | classDigits, "phrase": classCode | classPhrase,
	"once": classOnce, "where": classWhere, "brief": classBrief | classUnit, "number": classNumber, "tell": classTell, "done": classDone, "pass": classPass, "reply": classReply, "for": classFor, "initial": classInitial, "approval": classWord | classApproval, "confirmation": classWord | classConfirmation,
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
	*alphabet
	*trie
	bytes   [256]byte // what they are to ascii
	glyphs  glyphs
	scratch [2][]rune      // of a phrase on its way in
	letters []rune         // of the phrases with diacritics
	langs   []string       // the files' names; a phrase knows its language by index
	common  [maxLangs]bool // lexicons of no language
	owns    [maxLangs]bool // lexicons with a section [own]
	latin   [maxLangs]bool // languages in Latin letters
	unheard [2][2][maxLangs]trust
	pages   sync.Pool // of *page, to be used again
}

// lexicons is the one lexicon of the process, built on first use. A phrase that
// cannot be read is left out; a test sees to it that there is none.
var lexicons = sync.OnceValue(func() *lexicon {
	x, _ := build()
	return x
})

// Warm builds the lexicon that Extract and Explain need, unless that is done already. It takes 30 to 90 ms, which the first
// mail would wait for otherwise. It is safe for concurrent use, with Extract too.
func Warm() { lexicons() }

// build reads the embedded files.
func build() (*lexicon, error) {
	x := &lexicon{alphabet: newAlphabet(), trie: newTrie(nodes, further, terms)}
	x.entry.long = maxWord
	x.scratch = [2][]rune{make([]rune, 0, maxWord), make([]rune, 0, maxWord)}
	files, err := lexiconFiles.ReadDir("lexicon")
	if err != nil {
		return x, err
	}
	var faults []error
	for _, f := range files {
		text, err := lexiconFiles.ReadFile(path.Join("lexicon", f.Name()))
		if err != nil {
			return x, err
		}
		x.langs = append(x.langs, strings.TrimSuffix(f.Name(), ".txt"))
		x.common[len(x.langs)-1] = f.Name() == "und.txt"
		x.latin[len(x.langs)-1] = inLatin(string(text))
		if err := x.load(f.Name(), string(text)); err != nil {
			faults = append(faults, err)
		}
	}
	x.bytes = asciiBytes()
	x.tabulate()
	x.tabulateTrust()
	x.index()
	return x, errors.Join(faults...)
}

// inLatin says whether most letters of a text are Latin.
func inLatin(text string) bool {
	n := 0
	for _, r := range text {
		switch {
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
	nodes   = 304 << 10
	terms   = 72 << 10
	further = 128 << 10
)

// load enters the phrases of one file.
func (x *lexicon) load(name, text string) error {
	var c class
	for n, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if s, ok := strings.CutPrefix(line, "["); ok {
			c = sections[strings.TrimSuffix(s, "]")]
			if c == 0 {
				return fmt.Errorf("lexicon/%s:%d: unknown section %q", name, n+1, line)
			}
			continue
		}
		if c == 0 {
			return fmt.Errorf("lexicon/%s:%d: phrase %q before any section", name, n+1, line)
		}
		for alt := range strings.SplitSeq(line, "|") {
			if err := x.enter(strings.TrimSpace(alt), c); err != nil {
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
func (x *lexicon) enter(s string, c class) error {
	x.owns[len(x.langs)-1] = x.owns[len(x.langs)-1] || c == classOwn
	e := entry{phrase: phrase{class: c, lang: uint8(len(x.langs) - 1)}}
	e.low, e.keys = x.scratch[0][:0], x.scratch[1][:0]
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
		f := x.fold(r)
		if f == 0 || f == ' ' && (len(e.low) == 0 || e.low[len(e.low)-1] == ' ') {
			continue
		}
		k := x.key(f)
		e.low, e.keys = append(e.low, f), append(e.keys, k)
		node = x.reach(node, k)
	}
	return node
}

// finish ends a phrase at a node.
func (x *lexicon) finish(node int32, e entry) error {
	n, letters := len(e.low), 0
	for letters < n && x.classOf(e.keys[letters]) == spaced {
		letters++
	}
	switch {
	case n == 0 || n > maxWord:
		return fmt.Errorf("phrase %q is empty or longer than %d letters", string(e.low), maxWord)
	case letters == 1 && slices.Index(e.keys, star) == 1:
		return fmt.Errorf("phrase %q has its star after one letter", string(e.low))
	case n == 1 && x.classOf(e.low[0]) != other && e.class&(classIs|classUnit|classNot|classOwn) == 0:
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

// key is a folded rune as the trie knows it: without diacritics, and with one
// kind of gap between words.
func (x *lexicon) key(r rune) rune {
	if r == '-' {
		return ' '
	}
	return x.strip(r)
}

func at(r []rune, i int) rune {
	if i < 0 || i >= len(r) {
		return 0
	}
	return r[i]
}
