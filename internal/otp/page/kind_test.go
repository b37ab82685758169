package page

import (
	"strings"
	"testing"
	"unicode"
)

// TestKeysKeepScript holds what entries rely on: the word that a phrase begins
// with is as long as the word in the text.
func TestKeysKeepScript(t *testing.T) {
	x := Alphabets()
	for r := range rune(0x30000) {
		low := x.Fold(r)
		if low == 0 {
			continue
		}
		if a, b := x.ClassOf(low) == Spaced, x.ClassOf(x.Key(low)) == Spaced; a != b {
			t.Errorf("%U is written with spaces: %t, its key: %t, want the same", low, a, b)
		}
		if isCommonHan(r) && (low != r || x.Key(low) != r || classOf(r) != Dense || !unicode.IsLetter(r)) {
			t.Errorf("%U has the fold %U, the key %U and the class %v, want a letter that is its own fold and key and is written densely", r, low, x.Key(low), classOf(r))
		}
	}
}

// mixed is a text of every kind of rune, with words of all lengths.
var mixed = strings.Repeat("Ｃode １２３, código: 482 913! 验证码是123456。a1b2 "+strings.Repeat("x", 70)+" รหัสยืนยัน 1234; kertakäyttökoodi—ok? カタカナ7平仮名 한국어a글\n\n", 9)

// TestNext compares the steps of eight runes with steps of one.
func TestNext(t *testing.T) {
	p := new(Page)
	p.Read("1 é", mixed, "")
	for i := range len(p.Low) + 1 {
		for _, some := range []byte{Spaced, HotBit, Spaced | InkBit} {
			want := i
			for want < len(p.Low) && p.Kind[want]&some == 0 {
				want++
			}
			if got := p.Next(i, some); got != want {
				t.Fatalf("next %#x from %d is %d, want %d", some, i, got, want)
			}
		}
		want := i
		for want < len(p.Low) && p.Kind[want]&Spaced != 0 {
			want++
		}
		if got := p.LettersEnd(i); got != want {
			t.Fatalf("LettersEnd(%d) = %d, want %d", i, got, want)
		}
	}
}

// TestSpan compares the counts of blocks with counts of all runes from the
// beginning.
func TestSpan(t *testing.T) {
	p := new(Page)
	p.Read("1 é", mixed, "")
	sums := make([]Gap, len(p.Low)+1)
	half := false
	for i, r := range p.Low {
		g, k := sums[i], p.Kind[i]
		switch {
		case k&Dense != 0:
			if half = !half; half {
				g.Words++
			}
		case k&(Spaced|Digit) != 0:
			if i == 0 || p.Kind[i-1]&(Spaced|Digit) == 0 {
				g.Words++
			}
		default:
			half = false
			d := p.punctuationCount(i, r)
			g.Sentences += int(d >> sentenceShift & 1)
			g.Soft += int(d >> softShift & 1)
			g.Hard += int(d >> hardShift & 1)
		}
		sums[i+1] = g
	}
	p.ResetCounts()
	for from := len(p.Low); from >= 0; from -= 3 {
		for to := from; to <= len(p.Low); to += 5 {
			a, b := sums[from], sums[to]
			want := Gap{Words: b.Words - a.Words, Sentences: b.Sentences - a.Sentences, Soft: b.Soft - a.Soft, Hard: b.Hard - a.Hard}
			if got := p.Span(from, to); got != want {
				t.Fatalf("from %d to %d lies %+v, want %+v", from, to, got, want)
			}
		}
	}
}
