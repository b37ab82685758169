package app

import (
	"context"
	"net/netip"
	"time"

	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// staffMailMax bounds the mail to postmaster and abuse that is kept (docs/spec/staff.md#mail-to-staff). No plan
// has a quota for it, so without these bounds any sender could fill the disk.
var staffMailMax = message.Kept{Messages: mailbox.StaffKept, Octets: 256 << 20, For: 30 * 24 * time.Hour}

// allowStaffMail counts a recipient of a client whose mail is for staff. Clients that have no limits are not counted.
func (a *App) allowStaffMail(client netip.Addr) bool {
	if unlimited := a.unlimited(); unlimited != nil && unlimited(client) {
		return true
	}
	limit := ratelimit.Limit{{Count: mailbox.StaffPerClient, Per: 24 * time.Hour}}
	return a.limiter.Take(ratelimit.StaffMail, ratelimit.NetworkIdentity(client), limit, 1).OK
}

// trimStaffMail is the periodic job that erases mail to staff beyond staffMailMax, the oldest first.
func (a *App) trimStaffMail(ctx context.Context) error {
	box, err := a.mailboxes.OfStaff(ctx)
	if err != nil || box.MessageCount == 0 {
		return err
	}
	return a.messages.Trim(ctx, box.ID, staffMailMax)
}
