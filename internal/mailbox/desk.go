package mailbox

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/id"
)

// Mail to postmaster and abuse on public domains is kept in one mailbox for staff (docs/spec/staff.md#mail-to-staff). It belongs to
// no account, has no token and never expires; its messages are erased one by one.

// StaffAddress is the address of the mailbox for staff. It is no forward-path, and no other mailbox can have it.
const StaffAddress = "postmaster@"

const (
	// StaffKept is how many messages the mailbox for staff keeps. A periodic job erases the oldest ones beyond it.
	StaffKept = 1000
	// staffMost is how many messages it may contain before that job has run. Further mail is refused temporarily.
	staffMost = 2 * StaffKept
	// staffDaily is the maximum number of messages that it receives in a UTC day.
	staffDaily = 10_000
	// StaffPerClient is the maximum number of messages that one client may send to it in a day, so that one alone cannot use up
	// staffDaily.
	StaffPerClient = staffDaily / 5
)

// IsStaffName reports whether mail to a local part, in lower case, is for staff on public domains (RFC 5321 §4.5.1, RFC 2142).
func IsStaffName(local string) bool { return local == "postmaster" || local == "abuse" }

// CheckStaff returns the limits of the mailbox for staff before its first mail.
func (s *Service) CheckStaff(ctx context.Context) (Limits, error) {
	limits, err := s.plans.MailboxLimits(ctx, "")
	limits.DailyMail = staffDaily
	return limits, err
}

// OfStaff returns the mailbox for staff. Before its first mail it is one without an identifier, which is empty.
func (s *Service) OfStaff(ctx context.Context) (*Mailbox, error) {
	m, err := one(ctx, s.db, selectByAddress, StaffAddress)
	if err != nil {
		return nil, err
	}
	if m == nil || !m.Live(s.clock.Now()) {
		m = &Mailbox{Source: Staff}
	}
	return m, nil
}

// maxMessages returns how many messages a mailbox may hold.
func (s *Service) maxMessages(m *Mailbox) int {
	switch m.Source {
	case Staff:
		return staffMost
	case Project:
		return projectMessages
	}
	return s.policy.MaxMessages
}

// addStaff adds the unopened mailbox for staff, if the batch has mail for it and it does not exist.
func (b *Batch) addStaff(ctx context.Context) error {
	box, wanted := b.boxes[StaffAddress]
	if !wanted || box != nil && box.Live(b.now) {
		return nil
	}
	limits, err := b.s.CheckStaff(ctx)
	if err != nil {
		return err
	}
	local, domain := split(StaffAddress)
	b.boxes[StaffAddress] = &batchBox{unopened: true, limits: limits, Mailbox: &Mailbox{
		ID: id.New[id.Mailbox](b.now), Address: StaffAddress, LocalPart: local, Domain: domain, Source: Staff,
		CreatedAt: b.now.Truncate(time.Microsecond), ExpiresAt: time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC), epoch: 1,
	}}
	return nil
}
