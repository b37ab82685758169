package mailbox

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/problem"
)

// LocalPartPattern is what a chosen local part must match (spec §2).
const LocalPartPattern = `^[a-z0-9][a-z0-9._-]{0,63}$`

var localPart = regexp.MustCompile(LocalPartPattern)

// builtinReserved are the local parts nobody gets (decisions §2; the role names of RFC 2142).
const builtinReserved = "postmaster abuse admin root webmaster hostmaster mailer-daemon noreply support security"

func reservedNames(more []string) map[string]bool {
	names := make(map[string]bool)
	for _, name := range append(strings.Fields(builtinReserved), more...) {
		names[strings.ToLower(name)] = true
	}
	return names
}

// checkLocalPart says whether a wished local part may be had.
func (s *Service) checkLocalPart(local string) error {
	if !localPart.MatchString(local) {
		return problem.Invalid("/localPart", "must be 1 to 64 of a-z 0-9 . _ - and begin with a letter or digit")
	}
	if s.reserved[local] {
		return problem.Detailf(problem.MailboxLocalPartReserved, "%q is kept for the operator; choose another local part", local)
	}
	return nil
}

// generated draws a local part that can be said aloud: quiet-otter-4821. There are 230 million of them, of which a large
// service has most in use or in their cool-down: what collides again and again has more digits.
func generated(try int) string {
	digits, bound := 4, 10_000
	switch {
	case try >= 6:
		digits, bound = 8, 100_000_000
	case try >= 3:
		digits, bound = 6, 1_000_000
	}
	return fmt.Sprintf("%s-%s-%0*d", adjectives[draw(len(adjectives))], animals[draw(len(animals))], digits, draw(bound))
}

func draw(n int) int {
	v, err := rand.Int(rand.Reader, big.NewInt(int64(n)))
	if err != nil {
		panic(err) // crypto/rand ends the program itself before it fails
	}
	return int(v.Int64())
}

// holdKey keys the hash of a held address, so that the table alone does not tell who had what.
type holdKey []byte

func (k holdKey) hash(address string) []byte {
	mac := hmac.New(sha256.New, k)
	mac.Write([]byte(address))
	return mac.Sum(nil)
}

// holdTx keeps an address from being handed out again.
func (s *Service) holdTx(ctx context.Context, tx *db.Tx, m *Mailbox, now time.Time) error {
	return tx.Queue(ctx, upsertHold, s.hold.hash(m.Address), m.Owner.Account, now.Add(s.policy.Cooldown).UnixMicro())
}

// freeTx makes sure that an address may be given to an owner, else mailbox.local_part_taken. On a private domain an address
// is held for nobody: whose domain it is gets its mail anyway.
func (s *Service) freeTx(ctx context.Context, tx *db.Tx, address string, o Owner, now time.Time) error {
	taken := problem.New(problem.MailboxLocalPartTaken)
	m, err := one(ctx, tx, selectByAddress, address)
	if err != nil {
		return err
	}
	if m != nil {
		if m.Live(now) {
			return taken
		}
		if err := s.expireTx(ctx, tx, now, m); err != nil {
			return err
		}
	}
	holder, held, err := s.holderTx(ctx, tx, address, now)
	if err != nil {
		return err
	}
	if !held {
		return nil
	}
	if o.Domain == "" && (o.Account == "" || holder != o.Account) {
		return taken
	}
	_, err = tx.Exec(ctx, deleteHold, s.hold.hash(address))
	return err
}
