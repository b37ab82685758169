package mailbox_test

import (
	"context"
	"errors"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
)

// freely lets everybody have everything.
type freely struct{}

func (freely) MailboxLimits(context.Context, id.Account) (mailbox.Limits, error) {
	return mailbox.Limits{TTLDefault: time.Hour, TTLMax: time.Hour}, nil
}

func (f freely) MailboxLimitsOf(ctx context.Context, accounts []id.Account, found func(id.Account, mailbox.Limits)) error {
	for _, account := range accounts {
		limits, _ := f.MailboxLimits(ctx, account)
		found(account, limits)
	}
	return nil
}

// nowhere has no domain: creation ends there.
type nowhere struct{}

var errNowhere = errors.New("nowhere")

func (nowhere) Choose(context.Context, string, id.Account) (string, id.Domain, error) {
	return "", "", errNowhere
}

func (nowhere) HoldersTx(context.Context, *db.Tx, []string, func(string, id.Account, id.Domain)) error {
	return nil
}
