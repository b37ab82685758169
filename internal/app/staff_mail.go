package app

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
)

// staffMailMax bounds the mail to postmaster and abuse that is kept (docs/spec/staff.md#mail-to-staff). No plan
// has a quota for it, so without these bounds any sender could fill the disk.
var staffMailMax = message.Kept{Messages: mailbox.StaffKept, Octets: 256 << 20, For: 30 * 24 * time.Hour}

// trimStaffMail is the periodic job that erases mail to staff beyond staffMailMax, the oldest first.
func (a *App) trimStaffMail(ctx context.Context) error {
	box, err := a.mailboxes.OfStaff(ctx)
	if err != nil || box.MessageCount == 0 {
		return err
	}
	return a.messages.Trim(ctx, box.ID, staffMailMax)
}
