package mailbox

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"math/big"
	"regexp"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/problem"
)

// LocalPartPattern is what a chosen local part must match (docs/spec/mailboxes.md#addresses); it has at most localMax octets. A dot stands
// between two other characters: with one at the end or two in a row the address needs quotes (RFC 5321 §4.1.2), which many
// programs do not write.
const LocalPartPattern = `^[a-z0-9][a-z0-9_-]*(\.[a-z0-9_-]+)*$`

var localPart = regexp.MustCompile(LocalPartPattern)

// checkLocalPart checks the form of a local part that a client asks for. Error: request.invalid.
func checkLocalPart(local string) error {
	if len(local) > localMax || !localPart.MatchString(local) {
		return problem.Invalid("/localPart", "must be 1 to 64 of a-z 0-9 . _ - and begin with a letter or digit, without a dot at the end or two in a row")
	}
	return nil
}

// checkReserved returns an error for a local part that cannot be chosen on public domains. Error: mailbox.local_part_reserved.
func (s *Service) checkReserved(local string) error {
	if s.reserved.has(local) {
		return problem.Detailf(problem.MailboxLocalPartReserved, "%q is kept for the operator, or looks like a name that is; choose another local part", local)
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
	before, found, err := s.predecessorTx(ctx, tx, address)
	if err != nil || !found {
		return err
	}
	if o.Account == "" || before.account != o.Account {
		if o.Domain == "" && before.until > now.UnixMicro() {
			return taken
		}
		if err := s.forgetPredecessorTx(ctx, tx, address); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, deleteHold, s.hold.hash(address))
	return err
}

// forgetPredecessorTx erases what the delivery log has of an address whose next holder is another one, also of the mail that was refused
// since the mailbox ended: it shows who wrote to the holder before.
func (s *Service) forgetPredecessorTx(ctx context.Context, tx *db.Tx, address string) error {
	if s.deliveries == nil {
		return nil
	}
	return s.deliveries.EraseTx(ctx, tx, []string{address})
}
