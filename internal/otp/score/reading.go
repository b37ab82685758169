package score

import (
	"sync"

	"github.com/gonebox/gonebox/internal/otp/lexicon"
)

// Reading is a mail with the numbers and words in it that may be the code.
type Reading struct {
	lexicon.Text
	found   []candidate
	subject subject
	around  []surroundings
}

// readings keeps the buffers of mails that have been read.
var readings = sync.Pool{New: func() any { return new(Reading) }}

// keepRunes is how large a mail may be for its buffers to be used for another: one
// with two full parts is, at some 3 MB.
const keepRunes = 160 << 10

// Read reads a mail.
func Read(subject, text, html string) *Reading {
	p := readings.Get().(*Reading)
	p.Read(subject, text, html)
	clear(p.found)
	p.found = p.found[:0]
	return p
}

// Discard gives the buffers back.
func (p *Reading) Discard() {
	if cap(p.Raw) <= keepRunes {
		readings.Put(p)
	}
}
