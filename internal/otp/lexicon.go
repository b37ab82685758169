package otp

import (
	"embed"
	"fmt"
	"path"
	"strings"
	"sync"
)

//go:embed lexicon/*.txt
var lexiconFiles embed.FS

// class is a set of roles that a phrase plays beside a number.
type class uint16

// The sections of a lexicon; docs/extraction.md explains them to contributors.
const (
	classCode  class = 1 << iota // names a one-time code by itself
	classWord                    // code, PIN: one if the rest of the mail agrees
	classIs                      // is: ties the number to the word before
	classUse                     // enter, use
	classAuth                    // sign in, verify your address
	classGuard                   // do not share, expires in, did not ask for this
	classNot                     // order, invoice: owns the number beside it
	classVoid                    // promo code, backup codes: makes the whole mail doubtful
	classSkip                    // source code, QR code: hides the word in it
	classUnit                    // minutes, points, euros: the number counts something
	classOld                     // expired, previous
	classQuote                   // begins a quoted or forwarded mail
	classFoot                    // begins or marks a footer
)

var sections = map[string]class{
	"code": classCode, "word": classWord, "is": classIs, "use": classUse, "auth": classAuth,
	"guard": classGuard, "not": classNot, "void": classVoid, "skip": classSkip, "unit": classUnit,
	"old": classOld, "quote": classQuote, "foot": classFoot,
}

// lexicon is all languages in one: mails mix them, and no guess at the
// language has to be right.
type lexicon struct {
	*alphabet
	*trie
}

// lexicons builds the one lexicon from the embedded files on first use.
var lexicons = sync.OnceValue(build)

func build() *lexicon {
	x := &lexicon{alphabet: newAlphabet(), trie: newTrie(1 << 16)}
	names, _ := lexiconFiles.ReadDir("lexicon")
	for _, n := range names {
		text, _ := lexiconFiles.ReadFile(path.Join("lexicon", n.Name()))
		if err := x.load(n.Name(), string(text)); err != nil {
			panic(err) // embedded data, checked by a test
		}
	}
	return x
}

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
		for _, alt := range strings.Split(line, "|") {
			if err := x.expand(strings.TrimSpace(alt), c); err != nil {
				return fmt.Errorf("lexicon/%s:%d: %w", name, n+1, err)
			}
		}
	}
	return nil
}

// expand writes out the braces of a phrase, as a shell does: kod{,u,em}.
func (x *lexicon) expand(s string, c class) error {
	open := strings.IndexByte(s, '{')
	if open < 0 {
		return x.enter(s, c)
	}
	end := strings.IndexByte(s[open:], '}')
	if end < 0 {
		return fmt.Errorf("phrase %q has no closing brace", s)
	}
	for _, alt := range strings.Split(s[open+1:open+end], ",") {
		if err := x.expand(s[:open]+alt+s[open+end+1:], c); err != nil {
			return err
		}
	}
	return nil
}

// enter adds one phrase, folded as mails are.
func (x *lexicon) enter(s string, c class) error {
	p := phrase{class: c}
	s, p.right = strings.CutSuffix(s, "*")
	s, p.left = strings.CutPrefix(s, "*")
	low := x.foldText(s)
	if len(low) < 2 && x.classOf(at(low, 0)) != other && c&(classIs|classUnit|classNot) == 0 {
		return fmt.Errorf("phrase %q is too short", s)
	}
	if len(low) == 0 {
		return fmt.Errorf("phrase %q is empty", s)
	}
	bare := make([]rune, len(low))
	marked := false
	for i, r := range low {
		bare[i] = x.key(r)
		marked = marked || x.strip(r) != r
	}
	if marked && len(low) <= 4 {
		p.exact = low
	}
	x.add(bare, p)
	return nil
}

// key is a folded rune as the trie knows it: without diacritics, and with one
// kind of gap between words.
func (x *lexicon) key(r rune) rune {
	switch r {
	case '-', '\n', '\t':
		return ' '
	}
	return x.strip(r)
}

func (x *lexicon) foldText(s string) []rune {
	var low []rune
	for _, r := range s {
		if f := x.fold(r); f != 0 {
			low = append(low, f)
		}
	}
	return low
}

func at(r []rune, i int) rune {
	if i < 0 || i >= len(r) {
		return 0
	}
	return r[i]
}
