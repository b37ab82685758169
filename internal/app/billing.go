package app

import (
	"context"
	"log/slog"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/idempotency"
	"github.com/gonebox/gonebox/internal/job"
	"github.com/gonebox/gonebox/internal/wallet"
	"github.com/gonebox/gonebox/internal/wallet/bankpay"
)

// billing groups the parts that handle points and payments, and the idempotency of calls that spend.
type billing struct {
	responses *idempotency.Responses
	wallet    *wallet.Service
	bankpay   *bankpay.Service
	arrived   *job.Signal // set when the bank has reported a transaction
}

// newBilling creates billing. It calls notify, after the commit, when the bank has reported a transaction, to wake the
// other processes.
func newBilling(d *db.DB, c clock.Clock, l *slog.Logger, cfg *config.Config, notify func()) *billing {
	b := &billing{responses: idempotency.New(d, c, cfg.API.IdempotencyKeep), arrived: job.NewSignal()}
	b.bankpay = bankpay.New(d, c, l, func() { b.arrived.Set(); notify() })
	b.wallet = wallet.New(wallet.Parts{DB: d, Clock: c, Responses: b.responses, Transfers: b.bankpay, Logger: l, Policy: walletPolicy(cfg.Billing)})
	return b
}

// walletPolicy converts the configuration for package wallet. A bank that is not fully configured is disabled, so that
// no client is shown an account that does not exist.
func walletPolicy(c config.Billing) wallet.Policy {
	provider := func(code, name, status string) wallet.Provider {
		return wallet.Provider{
			Code: code, Name: name, Status: wallet.Status(status), Currencies: []string{wallet.VND}, MinAmount: c.TopupMin, MaxAmount: c.TopupMax, PointPrice: c.VNDPerPoint,
		}
	}
	bank := provider(wallet.Bankpay, "Bank transfer", c.Providers.Bankpay)
	if len(missingBankKeys(c.Bankpay)) > 0 && bank.Status == wallet.Active {
		bank.Status = wallet.Disabled // payments could not be made, or would not be reported
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

// missingBankKeys returns the keys that are empty although bank transfers cannot work without them.
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

// bankGate returns the gate that authenticates the bank's callback.
func bankGate(c config.Bankpay) bankpay.Gate {
	return bankpay.NewGate(string(c.APIKey), c.AllowNetworks)
}

// logMissingBankKeys logs at start which keys of bank transfers are missing, so that an operator does not learn it from a
// customer. It is a warning only if some of the keys are set: otherwise bank transfers are probably not wanted.
func (a *App) logMissingBankKeys(ctx context.Context) {
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
