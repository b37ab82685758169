package wallet

import (
	"context"
	"time"
)

// Transfer is a bank transfer as the bank reported it. It is parsed from the stored callback each time it is read, so a
// correction of the parser also applies to old transfers.
type Transfer struct {
	ID         string    // the bank's identifier, unique
	ReceivedAt time.Time // when the callback was stored, not when the money moved
	Direction  Direction
	Amount     int64    // in VND
	Accounts   []string // our account and its sub-account, as far as the bank reports them
	Texts      []string // texts that may contain the memo, the likeliest first
	Fault      string   // why it could not be parsed; "": it was parsed
}

// Direction reports whether a transfer is incoming or outgoing.
type Direction string

// The directions.
const (
	In  Direction = "in"
	Out Direction = "out"
)

// Transfers reads stored bank transfers. Implementations must be safe for concurrent use: Reconcile reads several
// transfers at once.
type Transfers interface {
	// Transfer reads a stored transfer. It returns an error if there is none: callers have its identifier from the
	// database.
	Transfer(ctx context.Context, transfer string) (*Transfer, error)
}

// Outcome is how a transfer was settled. Unseen is the first one. Reconcile changes it to Credited, Unmatched or
// Ignored; staff change Unmatched to Resolved or Ignored. There is no other transition. The values are stored.
type Outcome string

// The outcomes.
const (
	Unseen    Outcome = "new"       // not processed yet
	Credited  Outcome = "credited"  // paid its order automatically
	Unmatched Outcome = "unmatched" // left for staff, with a reason
	Ignored   Outcome = "ignored"   // settled without a credit
	Resolved  Outcome = "resolved"  // credited by staff
)

// Reason is why a transfer was not credited automatically. The values are stored and shown to staff.
type Reason string

// The reasons.
const (
	Outgoing      Reason = "outgoing"       // not an incoming payment
	Unreadable    Reason = "unreadable"     // no direction or no amount was reported
	NoMemo        Reason = "no_memo"        // its texts contain no memo
	UnknownMemo   Reason = "unknown_memo"   // there is no order with that memo
	TwoMemos      Reason = "two_memos"      // its texts name several orders
	OtherAccount  Reason = "other_account"  // it went to another account than the order's
	AmountDiffers Reason = "amount_differs" // it differs from the order's
	OrderPaid     Reason = "order_paid"     // the order is paid already
	TooLate       Reason = "too_late"       // the order is too old (Policy.LatePayment)
	Failed        Reason = "failed"         // settling it failed for Policy.RetryFor
)

// Match is a transfer and its outcome. Exactly one exists for each stored transfer. The references are strings because
// they are empty until the transfer is settled.
type Match struct {
	Transfer   string
	ReceivedAt time.Time
	Outcome    Outcome
	Reason     Reason    // of Unmatched and Ignored, kept after staff settled it; else empty
	Order      string    // paid by it, or named by its memo; may be empty
	Account    string    // credited by it; may be empty
	Points     int64     // credited
	SettledAt  time.Time // zero: not processed yet
	Staff      string    // who settled it; "" if it was settled automatically
	Note       string    // the reason that staff gave
}
