package httpapi

import (
	"context"
	"net/http"
	"strings"
	"unicode"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/wallet"
)

func (a *API) staffPayments() {
	registerStaff(a, httpkit.Operation{
		ID: "list-payments", Method: http.MethodGet, Path: "/staff/payments", Summary: "List the bank transactions", Status: 200,
		Text: "Newest first: those left for staff, or with `all=true` every one.",
	}, a.listPayments)
	registerStaff(a, httpkit.Operation{
		ID: "resolve-payment", Method: http.MethodPost, Path: "/staff/payments/{id}/resolution", Summary: "Settle a bank transaction", Status: 200,
		Text: "Of an unmatched transaction: pays an order of the same amount, credits its value to an account, or credits nothing. " +
			"Give exactly one of `order`, `user` and `ignore`.",
		Codes: []problem.Code{problem.PaymentNotFound, problem.PaymentNotResolvable, problem.OrderNotFound, problem.AccountNotFound},
	}, a.resolvePayment)
}

// Payment is a bank transaction as staff see it.
type Payment struct {
	ID         string       `json:"id" doc:"The identifier that the bank gave the transaction." example:"92704"`
	ReceivedAt clock.Stamp  `json:"receivedAt" doc:"When the bank reported it."`
	Direction  string       `json:"direction" doc:"in for a payment to the service, out for one by it; empty if the bank reported none." example:"in"`
	Amount     int64        `json:"amount" doc:"In VND; 0 if the bank reported none." example:"50000"`
	Content    string       `json:"content" doc:"What the payer wrote, its first 200 octets." example:"GBX7K2M9"`
	Outcome    string       `json:"outcome" enum:"new,credited,unmatched,ignored,resolved" doc:"What became of it."`
	Reason     *string      `json:"reason" nullable:"true" doc:"Why it was left for staff, or null." example:"no_memo"`
	Order      *string      `json:"order" nullable:"true" doc:"The order that its text names or that it paid, or null." example:"ord_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	Account    *string      `json:"account" nullable:"true" doc:"The identifier of the credited account, or null." example:"acc_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	Points     int64        `json:"points" doc:"The points that were credited." example:"50"`
	SettledAt  *clock.Stamp `json:"settledAt" doc:"When it was settled, or null."`
	Staff      *string      `json:"staff" nullable:"true" doc:"Who settled it, or null." example:"staff@example.org"`
	Note       *string      `json:"note" nullable:"true" doc:"The reason that staff gave, or null." example:"paid without the memo"`
}

func (a *API) payment(ctx context.Context, m *wallet.Match) (Payment, error) {
	t, err := a.Bankpay.Transfer(ctx, m.Transfer)
	if err != nil {
		return Payment{}, err
	}
	p := Payment{
		ID: m.Transfer, ReceivedAt: clock.Stamp{Time: m.ReceivedAt}, Direction: string(t.Direction), Amount: t.Amount, Outcome: string(m.Outcome),
		Reason: textOrNull(string(m.Reason)), Order: textOrNull(m.Order), Account: textOrNull(m.Account), Points: m.Points,
		SettledAt: clock.Optional(m.SettledAt), Staff: textOrNull(m.Staff), Note: textOrNull(m.Note),
	}
	if len(t.Texts) > 0 {
		const contentMax = 200
		text := strings.Join(strings.Fields(t.Texts[0]), " ")
		p.Content = strings.ToValidUTF8(text[:min(len(text), contentMax)], "")
	}
	return p, nil
}

func (a *API) listPayments(ctx context.Context, in *struct {
	httpkit.Paging
	All bool `query:"all" doc:"Whether to list every transaction, not only those left for staff."`
},
) (*httpkit.Many[Payment], error) {
	last, err := in.Position()
	if err != nil {
		return nil, err
	}
	size := a.kit.PageSize(in.Paging)
	all, err := a.Wallet.Matches(ctx, !in.All, last, size+1)
	if problem.Has(err, problem.PaymentNotFound) {
		err = httpkit.InvalidCursor()
	}
	if err != nil {
		return nil, err
	}
	all, next := httpkit.CutPage(all, size, func(m *wallet.Match) string { return m.Transfer })
	shown := make([]Payment, len(all))
	for i, m := range all {
		if shown[i], err = a.payment(ctx, m); err != nil {
			return nil, err
		}
	}
	return httpkit.Page(shown, next), nil
}

// paymentResolution is the body that settles a bank transaction.
type paymentResolution struct {
	_      struct{} `additionalProperties:"false"`
	Order  string   `json:"order,omitempty" maxLength:"64" doc:"The identifier of an order of the same amount, which it pays." example:"ord_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	User   string   `json:"user,omitempty" maxLength:"320" doc:"The identifier or e-mail address of an account, to which its value is credited." example:"you@example.org"`
	Ignore bool     `json:"ignore,omitempty" doc:"Whether to credit nothing."`
	Note   string   `json:"note" minLength:"1" maxLength:"500" doc:"The reason, one line of text, kept permanently." example:"paid without the memo, confirmed by mail"`
}

// how returns how many ways of settling the transaction the body asks for. Exactly one is allowed.
func (b paymentResolution) how() (ways int) {
	for _, given := range []bool{b.Order != "", b.User != "", b.Ignore} {
		if given {
			ways++
		}
	}
	return ways
}

// staffNote returns the caller with a note for permanent storage. Error: request.invalid.
func staffNote(ctx context.Context, note string) (wallet.Staff, error) {
	if strings.TrimSpace(note) == "" || strings.ContainsFunc(note, unicode.IsControl) {
		return wallet.Staff{}, problem.Invalid("/note", "must be one line of text")
	}
	return wallet.Staff{Name: string(from(ctx).account.ID), Note: note}, nil
}

func (a *API) resolvePayment(ctx context.Context, in *struct {
	ID   string `path:"id" maxLength:"64" doc:"The identifier that the bank gave the transaction."`
	Body paymentResolution
},
) (*httpkit.One[Payment], error) {
	by, err := staffNote(ctx, in.Body.Note)
	if err != nil {
		return nil, err
	}
	if in.Body.how() != 1 {
		return nil, problem.Invalid("", "must have exactly one of order, user and ignore")
	}
	if err := a.resolve(ctx, in.ID, in.Body, by); err != nil {
		return nil, err
	}
	m, err := a.Wallet.Match(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	p, err := a.payment(ctx, m)
	return httpkit.Single(p), err
}

func (a *API) resolve(ctx context.Context, transfer string, b paymentResolution, by wallet.Staff) error {
	switch {
	case b.Order != "":
		order, err := id.Parse[id.Order](b.Order)
		if err != nil {
			return problem.New(problem.OrderNotFound)
		}
		return a.Wallet.ResolveByOrder(ctx, transfer, order, by)
	case b.User != "":
		u, err := a.Registry.Find(ctx, b.User)
		if err != nil {
			return err
		}
		return a.Wallet.ResolveToAccount(ctx, transfer, u.ID, by)
	}
	return a.Wallet.Ignore(ctx, transfer, by)
}

// pointsAdjustment is the body that books points.
type pointsAdjustment struct {
	_      struct{} `additionalProperties:"false"`
	Points int64    `json:"points" minimum:"-1000000000" maximum:"1000000000" doc:"The points to add; negative to remove some." example:"50"`
	Note   string   `json:"note" minLength:"1" maxLength:"500" doc:"The reason, one line of text, which the owner sees." example:"for the outage of 14 March"`
}

func (a *API) adjustPoints(ctx context.Context, in *struct {
	UserPath
	Body pointsAdjustment
},
) (*httpkit.One[LedgerEntry], error) {
	by, err := staffNote(ctx, in.Body.Note)
	if err != nil {
		return nil, err
	}
	u, err := a.Registry.Find(ctx, in.User)
	if err != nil {
		return nil, err
	}
	e, err := a.Wallet.Adjust(ctx, u.ID, in.Body.Points, by)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(shownEntry(e)), nil
}
