package otp

import (
	"strings"
	"testing"
	"unicode"
)

// TestKeysKeepScript holds what entries rely on: the word that a phrase begins
// with is as long as the word in the text.
func TestKeysKeepScript(t *testing.T) {
	x := lexicons()
	for r := range rune(0x30000) {
		low := x.fold(r)
		if low == 0 {
			continue
		}
		if a, b := x.classOf(low) == spaced, x.classOf(x.key(low)) == spaced; a != b {
			t.Errorf("%U is a letter: %t, its key: %t", low, a, b)
		}
		if plainHan(r) && (low != r || x.key(low) != r || classOf(r) != dense || !unicode.IsLetter(r)) {
			t.Errorf("%U is no plain letter", r)
		}
	}
}

// mixed is a text of every kind of rune, with words of all lengths.
var mixed = strings.Repeat("Ｃode １２３, código: 482 913! 验证码是123456。a1b2 "+strings.Repeat("x", 70)+" รหัสยืนยัน 1234; kertakäyttökoodi—ok? カタカナ7平仮名 한국어a글\n\n", 9)

// TestNext compares the steps of eight runes with steps of one.
func TestNext(t *testing.T) {
	p := read(Mail{Text: mixed, Subject: "1 é"})
	defer p.discard()
	for i := range len(p.low) + 1 {
		for _, some := range []byte{spaced, hotBit, spaced | inkBit} {
			want := i
			for want < len(p.low) && p.kind[want]&some == 0 {
				want++
			}
			if got := p.next(i, some); got != want {
				t.Fatalf("next %#x from %d is %d, want %d", some, i, got, want)
			}
		}
		want := i
		for want < len(p.low) && p.kind[want]&spaced != 0 {
			want++
		}
		if got := p.lettersEnd(i); got != want {
			t.Fatalf("the letters from %d end at %d, want %d", i, got, want)
		}
	}
}

// TestSpan compares the counts of blocks with counts of all runes from the
// beginning.
func TestSpan(t *testing.T) {
	p := read(Mail{Text: mixed, Subject: "1 é"})
	defer p.discard()
	sums := make([]gap, len(p.low)+1)
	half := false
	for i, r := range p.low {
		g, k := sums[i], p.kind[i]
		switch {
		case k&dense != 0:
			if half = !half; half {
				g.words++
			}
		case k&(spaced|digit) != 0:
			if i == 0 || p.kind[i-1]&(spaced|digit) == 0 {
				g.words++
			}
		default:
			half = false
			d := p.punctuation(i, r)
			g.sentences += int(d >> sentenceShift & 1)
			g.soft += int(d >> softShift & 1)
			g.hard += int(d >> hardShift & 1)
		}
		sums[i+1] = g
	}
	p.uncount()
	for from := len(p.low); from >= 0; from -= 3 {
		for to := from; to <= len(p.low); to += 5 {
			a, b := sums[from], sums[to]
			want := gap{words: b.words - a.words, sentences: b.sentences - a.sentences, soft: b.soft - a.soft, hard: b.hard - a.hard}
			if got := p.span(from, to); got != want {
				t.Fatalf("from %d to %d lies %+v, want %+v", from, to, got, want)
			}
		}
	}
}
