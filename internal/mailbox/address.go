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

// LocalPartPattern is what a chosen local part must match (docs/spec/mailboxes.md#addresses).
const LocalPartPattern = `^[a-z0-9][a-z0-9._-]{0,63}$`

var localPart = regexp.MustCompile(LocalPartPattern)

// builtinReserved are local parts that cannot be chosen (docs/spec/mailboxes.md#addresses; the role names of RFC 2142).
const builtinReserved = "postmaster abuse admin root webmaster hostmaster mailer-daemon noreply support security"

func reservedNames(more []string) map[string]bool {
	names := make(map[string]bool)
	for _, name := range append(strings.Fields(builtinReserved), more...) {
		names[strings.ToLower(name)] = true
	}
	return names
}

// checkLocalPart checks a local part that a client asks for. Errors: request.invalid, mailbox.local_part_reserved.
func (s *Service) checkLocalPart(local string) error {
	if !localPart.MatchString(local) {
		return problem.Invalid("/localPart", "must be 1 to 64 of a-z 0-9 . _ - and begin with a letter or digit")
	}
	if s.reserved[local] {
		return problem.Detailf(problem.MailboxLocalPartReserved, "%q is kept for the operator; choose another local part", local)
	}
	return nil
}

// generated returns a random local part that is easy to say aloud: quiet-otter-4821. There are 230 million of them, and a large
// service may have most of them in use or in cool-down, so later tries have more digits.
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

// draw returns a random number in [0, n).
func draw(n int) int {
	v, err := rand.Int(rand.Reader, big.NewInt(int64(n)))
	if err != nil {
		panic(err) // cannot happen: crypto/rand crashes the program rather than fail
	}
	return int(v.Int64())
}

// holdKey keys the hashes of held addresses, so that the table alone does not disclose who used which address.
type holdKey []byte

func (k holdKey) hash(address string) []byte {
	mac := hmac.New(sha256.New, k)
	mac.Write([]byte(address))
	return mac.Sum(nil)
}

// holdTx starts the cool-down of a mailbox's address.
func (s *Service) holdTx(ctx context.Context, tx *db.Tx, m *Mailbox, now time.Time) error {
	return tx.Queue(ctx, upsertHold, s.hold.hash(m.Address), m.Owner.Account, now.Add(s.policy.Cooldown).UnixMicro())
}

// checkAddressTx checks that an owner may get an address, and ends its cool-down. On a private domain there is no cool-down: the
// domain's owner receives all of its mail anyway. Error: mailbox.local_part_taken.
func (s *Service) checkAddressTx(ctx context.Context, tx *db.Tx, address string, o Owner, now time.Time) error {
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
	holder, held, err := s.holderOfTx(ctx, tx, address, now)
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
