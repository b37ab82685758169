package app

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
)

// keptForStaff bounds the mail to postmaster and abuse that is kept (docs/spec/staff.md#mail-to-staff). It has no
// quota of a plan, so without a bound anyone could fill the disk with it.
var keptForStaff = message.Kept{Messages: mailbox.StaffKept, Octets: 256 << 20, For: 30 * 24 * time.Hour}

// trimStaffMail is the periodic job that erases mail to staff beyond keptForStaff, the oldest first.
func (a *App) trimStaffMail(ctx context.Context) error {
	box, err := a.mailboxes.OfStaff(ctx)
	if err != nil || box.MessageCount == 0 {
		return err
	}
	return a.messages.Trim(ctx, box.ID, keptForStaff)
}
