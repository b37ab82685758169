package app

import (
	"context"
	"log/slog"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/idempotency"
	"github.com/gonebox/gonebox/internal/wallet"
	"github.com/gonebox/gonebox/internal/wallet/bankpay"
)

// billing is what points and payments are made of.
type billing struct {
	answers *idempotency.Answers
	wallet  *wallet.Service
	bankpay *bankpay.Service
	arrived chan struct{} // has room for one; filled when the bank has told of a transaction
}

// newBilling assembles it; tell lets other processes know that the bank has told of a transaction.
func newBilling(d *db.DB, c clock.Clock, l *slog.Logger, cfg *config.Config, tell func()) *billing {
	b := &billing{answers: idempotency.New(d, c, cfg.API.IdempotencyKeep), arrived: make(chan struct{}, 1)}
	b.bankpay = bankpay.New(d, c, l, func() { b.nudge(); tell() })
	b.wallet = wallet.New(wallet.Parts{DB: d, Clock: c, Answers: b.answers, Transfers: b.bankpay, Logger: l, Policy: walletPolicy(cfg.Billing)})
	return b
}

// nudge has this process's reconciliation look at once, if it has one.
func (b *billing) nudge() {
	select {
	case b.arrived <- struct{}{}:
	default: // it will look anyway
	}
}

// policy is the configuration as package wallet wants it.
func walletPolicy(c config.Billing) wallet.Policy {
	provider := func(code, name, status string) wallet.Provider {
		return wallet.Provider{
			Code: code, Name: name, Status: wallet.Status(status), Currencies: []string{wallet.VND}, MinAmount: c.TopupMin, MaxAmount: c.TopupMax,
		}
	}
	bank := provider(wallet.Bankpay, "Bank transfer", c.Providers.Bankpay)
	if len(missingBankKeys(c.Bankpay)) > 0 && bank.Status == wallet.Active {
		bank.Status = wallet.Disabled // nobody could pay, or nobody would hear of it
	}
	return wallet.Policy{
		VNDPerPoint: c.VNDPerPoint, TopupMin: c.TopupMin, TopupMax: c.TopupMax, OrderTTL: c.OrderTTL, LatePayment: c.LatePayment,
		OpenMax: c.OpenOrders, OrderKeep: c.OrderKeep, RetryFor: c.RetryFor,
		Providers: []wallet.Provider{bank, provider(wallet.BNB, "BNB", c.Providers.BNB)},
		Bank: wallet.Bank{
			BIN: c.Bankpay.BankBIN, Name: c.Bankpay.BankName, AccountNumber: c.Bankpay.AccountNumber, AccountName: c.Bankpay.AccountName,
		},
	}
}

// missing are the keys without which bank transfers cannot be offered.
func missingBankKeys(c config.Bankpay) (keys []string) {
	for _, s := range []struct{ key, value string }{
		{"apikey", string(c.APIKey)}, {"bank_bin", c.BankBIN}, {"account_number", c.AccountNumber},
	} {
		if s.value == "" {
			keys = append(keys, "billing.bankpay."+s.key)
		}
	}
	return keys
}

// gate says who may call back.
func bankGate(c config.Bankpay) bankpay.Gate {
	return bankpay.NewGate(string(c.APIKey), c.AllowNetworks)
}

// tellOfBilling says at the start what an operator would otherwise find out from a customer. Who has configured nothing of
// bank transfers has no use for them.
func (a *App) tellOfBilling(ctx context.Context) {
	c := a.cfg.Billing
	missing := missingBankKeys(c.Bankpay)
	begun := len(missing) < 3 || c.Bankpay.BankName != "" || c.Bankpay.AccountName != "" || len(c.Bankpay.AllowNetworks) > 0
	if c.Providers.Bankpay == string(wallet.Active) && len(missing) > 0 {
		level := slog.LevelDebug
		if begun {
			level = slog.LevelWarn
		}
		a.log.Log(ctx, level, "bank transfers are shown as disabled until they are configured", "missing", missing)
	}
}
