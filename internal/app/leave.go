package app

import (
	"context"

	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/idempotency"
	"github.com/gonebox/gonebox/internal/outbound"
)

// eraseAccount erases what the domains store of an account that leaves, in the transaction that deletes it
// (docs/spec/accounts.md#leaving). What has an end, such as mailboxes and domains, ends, and periodic jobs erase it within a minute.
// The ledger, orders and the audit log stay, with the identifier of the account.
func (a *App) eraseAccount(ctx context.Context, tx *db.Tx, account id.Account, addresses []string) error {
	for _, erase := range []func(context.Context, *db.Tx, id.Account) error{
		apikey.EndTx, a.mailboxes.EraseTx, a.domains.EraseTx, a.filters.EraseTx, a.webhooks.EraseTx, a.subscriptions.EndTx, idempotency.EraseTx, outbound.ForgetTx,
		a.faults.EraseTx, a.transcripts.EraseTx,
	} {
		if err := erase(ctx, tx, account); err != nil {
			return err
		}
	}
	return a.deliveries.EraseTx(ctx, tx, addresses)
}
