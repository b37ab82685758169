package lexicon

import (
	"fmt"
	"strings"

	"github.com/gonebox/gonebox/internal/otp/page"
)

// Purpose is what the words beside a link say of it, as far as no code needs to know.
// These words are looked up beside links alone, and not in the pass over the text.
type Purpose uint16

// The purposes of a link.
const (
	Cancels  Purpose = 1 << iota // what was asked for, or reports that it was not asked for
	Invites                      // to a team or the like
	Verifies                     // an address, or activates an account
	SignsIn                      // without a password, or from a new device
	Resets                       // a password
	Unlocks                      // an account
	Opens                        // the words ask to open a link, whatever it is for
	Views                        // something, or manages it
	Accounts                     // it is for one
	Reports                      // what has happened
	Accepts                      // an invitation, if it is written on the link
	SignsUp                      // likewise

	Kinds = Invites | Verifies | SignsIn | Resets | Unlocks
)

// purposeSections are the sections of a lexicon for links alone.
var purposeSections = map[string]Purpose{
	"cancel": Cancels, "invite": Invites, "verify": Verifies, "signin": SignsIn, "reset": Resets, "unlock": Unlocks, "open": Opens, "view": Views, "account": Accounts, "report": Reports, "accept": Accepts, "signup": SignsUp,
}

// purposes is the phrases by which a link's purpose is known, as a tree of their letters.
// Its edges are a hash table with linear probing, since words are looked up beside each link:
// reading a mail with many links takes a sixth less than with a map (BenchmarkManyLinks).
type purposes struct {
	edges []edge // at most half of them are used; their number is a power of two
	nodes []purposeNode
	terms []purposeTerm
	pairs [26][26]int32 // the nodes that two small letters lead to
}

// edge leads from a node and a letter to a node, of which the root is the first. An edge
// that leads to the root is not used.
type edge struct {
	from   int32
	letter rune
	to     int32
}

// likely reports whether a node may have an edge of a letter. Most words of a text lead to no phrase, and end here.
func (n *purposeNode) likely(letter rune) bool { return n.letters>>(letter&31)&1 != 0 }

// place returns the edge of a letter at a node, or the unused one where it would be.
func (t *purposes) place(node int32, letter rune) *edge {
	h := (uint64(node)<<32 | uint64(uint32(letter))) * 0x9e3779b97f4a7c15 // the golden ratio spreads the keys
	mask := uint64(len(t.edges) - 1)
	for i := h >> 40 & mask; ; i = (i + 1) & mask {
		if e := &t.edges[i]; e.to == 0 || e.from == node && e.letter == letter {
			return e
		}
	}
}

// next returns the node behind a letter, or 0.
func (t *purposes) next(node int32, letter rune) int32 {
	if len(t.nodes) == 0 || !t.nodes[node].likely(letter) {
		return 0
	}
	return t.place(node, letter).to
}

// index notes where two letters lead to, which is asked most. No phrase is a single letter of these.
func (t *purposes) index() {
	for a := range t.pairs {
		if first := t.next(0, 'a'+rune(a)); first != 0 {
			for b := range t.pairs[a] {
				t.pairs[a][b] = t.next(first, 'a'+rune(b))
			}
		}
	}
}

// grow makes room for an edge.
func (t *purposes) grow() {
	if 2*len(t.nodes) < len(t.edges) {
		return
	}
	old := t.edges
	t.edges = make([]edge, max(2*len(old), 2*purposeNodes))
	for _, e := range old {
		if e.to != 0 {
			*t.place(e.from, e.letter) = e
		}
	}
}

// purposeNode is what phrases that end at a node say.
type purposeNode struct {
	whole int32 // the first of those that end with a word, counted from 1
	open  int32 // of those that a star ends, which stands for the rest of the word

	letters uint32 // of the edges from here, a bit for the lower bits of each
}

// purposeTerm is what a phrase says in some languages.
type purposeTerm struct {
	langs languages
	what  Purpose
	more  int32 // the next one of the node, counted from 1
}

// purposeNodes is room for the nodes.
const purposeNodes = 32 << 10

// enter adds the phrases that a pattern stands for.
func (t *purposes) enter(abc *page.Alphabet, pattern string, what Purpose, lang int) error {
	before, rest, braces := strings.Cut(pattern, "{")
	if !braces {
		return t.add(abc, pattern, what, lang)
	}
	words, after, ok := strings.Cut(rest, "}")
	if !ok {
		return fmt.Errorf("phrase %q has no closing brace", pattern)
	}
	for w := range strings.SplitSeq(words, ",") {
		if err := t.enter(abc, before+w+after, what, lang); err != nil {
			return err
		}
	}
	return nil
}

// add adds a phrase.
func (t *purposes) add(abc *page.Alphabet, phrase string, what Purpose, lang int) error {
	phrase, open := strings.CutSuffix(strings.TrimSpace(phrase), "*")
	if phrase == "" || strings.Contains(phrase, "*") {
		return fmt.Errorf("phrase %q is empty or has a star inside", phrase)
	}
	if len(phrase) == 1 {
		return fmt.Errorf("phrase %q is a single letter, which Purpose does not look at", phrase)
	}
	if t.nodes == nil {
		t.nodes = make([]purposeNode, 1, purposeNodes)
	}
	at := int32(0)
	for _, r := range phrase {
		low := abc.Fold(r)
		if low == 0 {
			continue
		}
		t.grow()
		e := t.place(at, abc.Key(low))
		if e.to == 0 {
			*e = edge{at, abc.Key(low), int32(len(t.nodes))}
			t.nodes = append(t.nodes, purposeNode{})
			t.nodes[at].letters |= 1 << (abc.Key(low) & 31)
		}
		at = e.to
	}
	n := &t.nodes[at]
	if open {
		n.open = t.say(n.open, what, lang)
	} else {
		n.whole = t.say(n.whole, what, lang)
	}
	return nil
}

// say adds what a phrase says in a language to the list that begins with a term.
func (t *purposes) say(first int32, what Purpose, lang int) int32 {
	for i := first; i > 0; i = t.terms[i-1].more {
		if t.terms[i-1].what == what {
			t.terms[i-1].langs.add(lang)
			return first
		}
	}
	t.terms = append(t.terms, purposeTerm{what: what, more: first})
	t.terms[len(t.terms)-1].langs.add(lang)
	return int32(len(t.terms))
}

// says gives what a list of terms says in the languages of a set.
func (t *purposes) says(first int32, in *languages) (what Purpose) {
	for i := first; i > 0; i = t.terms[i-1].more {
		if e := &t.terms[i-1]; e.langs[0]&in[0]|e.langs[1]&in[1] != 0 {
			what |= e.what
		}
	}
	return what
}

// maxPurpose is how many runes are looked at for the purpose of a link.
const maxPurpose = 512

// PurposeOf is Purpose of a text that is not on the page.
func (p *Text) PurposeOf(text string) (what Purpose) {
	keys := make([]rune, 0, maxPurpose)
	for _, r := range text {
		if low := p.x.abc.Fold(r); low != 0 && len(keys) < maxPurpose {
			keys = append(keys, p.x.abc.Key(low))
		}
	}
	letter := func(i int) bool { return 0 <= i && i < len(keys) && p.x.abc.ClassOf(keys[i]) == page.Spaced }
	for i := range keys {
		if p.x.abc.ClassOf(keys[i]) == page.Other || letter(i) && letter(i-1) {
			continue
		}
		at := int32(0)
		for j := i; j < min(len(keys), i+page.MaxWord); j++ {
			if at = p.x.purpose.next(at, keys[j]); at == 0 {
				break
			}
			n := &p.x.purpose.nodes[at]
			what |= p.x.purpose.says(n.open, &p.heard)
			if !letter(j) || !letter(j+1) {
				what |= p.x.purpose.says(n.whole, &p.heard)
			}
		}
	}
	return what
}

// Purpose gives what the words from one place to another say of a link beside them.
func (p *Text) Purpose(from, to int) (what Purpose) {
	to = min(to, from+maxPurpose, len(p.Low))
	for i := from; i < to; {
		switch k := p.Kind[i]; {
		case k&page.Spaced != 0:
			if p.Boundary(i) {
				what |= p.purposeAt(i, to)
			}
			i = p.LettersEnd(i + 1)
			continue
		case k&page.Dense != 0:
			what |= p.purposeAt(i, to)
		}
		i++
	}
	return what
}

// purposeAt gives what the phrases say that begin at a place and end before another.
func (p *Text) purposeAt(i, to int) (what Purpose) {
	t := &p.x.purpose
	var at int32
	j := i
	if a, b := rune(p.Tags[i]), rune(p.Tags[i+1]); page.IsLetter(a) && page.IsLetter(b) {
		if at = t.pairs[a-'a'][b-'a']; at == 0 || i+1 >= to {
			return 0
		}
		j++
	} else {
		at = t.next(0, p.KeyAt(i))
	}
	for to = min(to, i+page.MaxWord); at != 0; at = t.next(at, p.KeyAt(j)) {
		n := &t.nodes[at]
		if n.open != 0 {
			what |= t.says(n.open, &p.heard)
		}
		if n.whole != 0 && (p.Boundary(j+1) || p.Kind[j]&page.Dense != 0) {
			what |= t.says(n.whole, &p.heard)
		}
		if j++; j >= to {
			break
		}
	}
	return what
}
