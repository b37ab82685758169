package mailcheck

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Checker checks mails. It is safe for concurrent use.
type Checker struct{ load func() (*loaded, error) }

// loaded is the data, and what shows its features.
type loaded struct {
	*data
	triggers *triggers
}

// New returns a Checker. The data is decoded when it is first used.
func New() *Checker {
	return &Checker{sync.OnceValues(func() (*loaded, error) {
		d, err := readData()
		if err != nil {
			return nil, err
		}
		index := make(map[string]int, len(d.features))
		for i, f := range d.features {
			index[f.Slug] = i
		}
		t, err := newTriggers(index)
		return &loaded{d, t}, err
	})}
}

// Features is what was found in the HTML of a mail.
type Features struct {
	Score    float64 // 0 to 100, see docs/decisions/0074
	Partial  float64 // what features that clients support in part take from it
	Without  float64 // what features that clients do not support take from it
	Elements int     // that the score counts
	Tests    int     // features that count in the score
	Found    []Found // those that weigh most first

	noAlt, noSize images
}

// Found is a feature that a mail has.
type Found struct {
	*Feature
	Times int // how many elements it applies to, or how often it is there; 0 where it has no weight in the score
	Line  int // of the HTML, the first that has it
}

// images is how many images lack something, and the line of the first.
type images struct{ count, line int }

// Features finds the features of HTML. Its time is proportional to the length of src, of which it reads at most 4 MiB.
func (c *Checker) Features(src string) (*Features, error) {
	l, err := c.load()
	if err != nil {
		return nil, err
	}
	s := newScan(l.triggers, len(l.features), src)
	out := &Features{Elements: s.inBody, Tests: l.triggers.weighed()}
	if s.closed {
		out.Elements = s.elements
	}
	for i := range l.features {
		if h := s.hits[i]; h.mentioned {
			out.Found = append(out.Found, Found{&l.features[i], h.weight, h.offset})
		}
	}
	out.noAlt, out.noSize = images{s.noAlt.count, s.noAlt.offset}, images{s.noSize.count, s.noSize.offset}
	out.setLines(src)
	out.score()
	return out, nil
}

// score sets the score: 100 less the greatest share of clients, weighed by the elements concerned, that support a feature in part, less the
// greatest that does not support one.
func (f *Features) score() {
	for _, found := range f.Found {
		f.Partial = max(f.Partial, f.weigh(found, found.partial))
		f.Without = max(f.Without, f.weigh(found, found.unsupported))
	}
	f.Score = min(max(100-f.Partial-f.Without, 0), 100)
	slices.SortStableFunc(f.Found, func(a, b Found) int {
		return cmp.Or(
			cmp.Compare(f.weigh(b, b.partial+b.unsupported), f.weigh(a, a.partial+a.unsupported)),
			cmp.Compare(b.unsupported, a.unsupported), strings.Compare(a.Slug, b.Slug))
	})
}

func (f *Features) weigh(found Found, share float64) float64 {
	return share * float64(found.Times) / float64(max(f.Elements, 1))
}

// weighed returns how many features count in the score.
func (t *triggers) weighed() int {
	weighs := make(map[int]bool)
	for _, k := range t.kinds() {
		for _, found := range *k.keys {
			for _, f := range found {
				weighs[f.feature] = weighs[f.feature] || f.weighs
			}
		}
	}
	n := 0
	for _, yes := range weighs {
		if yes {
			n++
		}
	}
	return n
}

// Date returns the day of the data about mail clients, like 2026-05-13.
func (c *Checker) Date() (string, error) {
	l, err := c.load()
	if err != nil {
		return "", err
	}
	return l.date, nil
}

// Platforms returns the names of the families of clients that the data has for each platform, in order.
func (c *Checker) Platforms() (map[string][]string, error) {
	l, err := c.load()
	if err != nil {
		return nil, err
	}
	platforms := make(map[string][]string)
	for _, f := range l.features {
		for _, r := range f.Results {
			name := l.families[r.Family]
			if i, known := slices.BinarySearch(platforms[r.Platform], name); !known {
				platforms[r.Platform] = slices.Insert(platforms[r.Platform], i, name)
			}
		}
	}
	return platforms, nil
}

// setLines sets the lines of the features, and of what is wrong with images, from the offsets in src that were kept there.
func (f *Features) setLines(src string) {
	places := []*int{&f.noAlt.line, &f.noSize.line}
	for i := range f.Found {
		places = append(places, &f.Found[i].Line)
	}
	slices.SortFunc(places, func(a, b *int) int { return cmp.Compare(*a, *b) })
	line, at := 1, 0
	for _, place := range places {
		offset := max(at, min(*place, len(src)))
		line += strings.Count(src[at:offset], "\n")
		at, *place = offset, line
	}
}
