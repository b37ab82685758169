package mailbox

import (
	"context"
	_ "embed"
	"slices"
	"strings"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// On the domains that everyone can have an address at, some local parts are kept for the operator (docs/spec/mailboxes.md#reserved-names):
// who can read the mail of certain names is taken for the holder of the domain, and who can write from them is trusted by its users.

// reservedNames are these local parts: those of the CA/Browser Forum (Baseline Requirements §3.2.2.4.4), whose mail proves control of a
// domain to certificate authorities, those of RFC 2142, and names that look like the operator's.
//
//go:embed reserved.txt
var reservedNames string

// reservedSet are the local parts that cannot be chosen, without what separates their words.
type reservedSet map[string]bool

// newReservedSet returns the built-in names and more of the operator's.
func newReservedSet(more []string) reservedSet {
	set, more := make(reservedSet), slices.Clone(more)
	for line := range strings.Lines(reservedNames) {
		if !strings.HasPrefix(line, "#") {
			more = append(more, strings.Fields(line)...)
		}
	}
	for _, name := range more {
		set[joined(strings.ToLower(name))] = true
	}
	return set
}

// joined returns a local part without the characters that separate words: no-reply, no.reply and noreply are the same name to a reader.
func joined(local string) string { return separators.Replace(local) }

// separators removes what separates words, and lookAlikes replaces digits and pairs of letters by the letter that they look like.
var (
	separators = strings.NewReplacer(".", "", "-", "", "_", "")
	lookAlikes = strings.NewReplacer("0", "o", "3", "e", "4", "a", "5", "s", "7", "t", "8", "b", "rn", "m", "vv", "w")
)

// foldedMin is the shortest name in which digits are read as letters: of shorter ones too many are real names.
const foldedMin = 4

// has reports whether a local part, in lower case, is reserved, or looks like one that is.
func (r reservedSet) has(local string) bool {
	name := joined(local)
	if r[name] {
		return true
	}
	if len(name) < foldedMin {
		return false
	}
	reading := lookAlikes.Replace(name)
	if !strings.Contains(reading, "1") {
		return r[reading]
	}
	for reserved := range r {
		if readsAs(reading, reserved) {
			return true
		}
	}
	return false
}

// readsAs reports whether a text can be read as a name where each figure one in it stands for i or l, whichever the name has there.
func readsAs(text, name string) bool {
	if len(text) != len(name) {
		return false
	}
	for i := range len(text) {
		if text[i] != name[i] && (text[i] != '1' || name[i] != 'i' && name[i] != 'l') {
			return false
		}
	}
	return true
}

// reservedPage is how many mailboxes EndReserved reads at once.
const reservedPage = 1000

// EndReserved ends the live mailboxes on public domains whose local part cannot be chosen (any more), as Destroy does, and returns their
// addresses. They were created before the operator, or a version of the service, reserved the name.
func (s *Service) EndReserved(ctx context.Context, domains []string) (ended []string, err error) {
	public := make(map[string]bool)
	for _, name := range domains {
		public[name] = true
	}
	for last := id.Mailbox(""); ; {
		page, err := listNames(ctx, s.db, last, reservedPage)
		if err != nil || len(page) == 0 {
			return ended, err
		}
		for _, n := range page {
			if !public[n.domain] || localPart.MatchString(n.local) && !s.reserved.has(n.local) {
				continue
			}
			address, err := s.endReserved(ctx, n.id)
			if err != nil {
				return ended, err
			}
			if address != "" {
				ended = append(ended, address)
			}
		}
		last = page[len(page)-1].id
	}
}

// endReserved ends a mailbox and returns its address, or "" if it has ended already.
func (s *Service) endReserved(ctx context.Context, box id.Mailbox) (address string, err error) {
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		address = ""
		m, err := one(ctx, tx, selectByID, box)
		now := s.clock.Now()
		if err != nil || m == nil || !m.Live(now) {
			return err
		}
		address = m.Address
		return s.endTx(ctx, tx, m, m.epoch+1, now)
	})
	return address, err
}
