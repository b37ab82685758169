package wallet

import (
	"context"
	"time"
)

// Transfer is a bank transfer as the bank told of it.
type Transfer struct {
	ID         string // the bank's, unique
	ReceivedAt time.Time
	Direction  Direction
	Amount     int64    // in VND
	Accounts   []string // numbers of our account and of its sub-account, as far as the bank told them
	Texts      []string // where the memo may stand, the likeliest first
	Fault      string   // what of it cannot be understood; "": nothing
}

// Direction is which way money went.
type Direction string

// The directions.
const (
	In  Direction = "in"
	Out Direction = "out"
)

// Transfers is the store of what the bank told.
type Transfers interface {
	// Transfer reads one; there is one of that identifier.
	Transfer(ctx context.Context, transfer string) (*Transfer, error)
}

// Outcome is what has become of a transfer.
type Outcome string

// The outcomes.
const (
	Unseen    Outcome = "new"       // not looked at yet
	Credited  Outcome = "credited"  // paid its order, by itself
	Unmatched Outcome = "unmatched" // left for staff, with a reason
	Ignored   Outcome = "ignored"   // nothing is to be credited for it
	Resolved  Outcome = "resolved"  // credited by staff
)

// Reason is why a transfer was not credited by itself.
type Reason string

// The reasons.
const (
	Outgoing      Reason = "outgoing"       // money that went away
	Unreadable    Reason = "unreadable"     // the bank told no direction or no amount
	NoMemo        Reason = "no_memo"        // nothing in its text looks like a memo
	UnknownMemo   Reason = "unknown_memo"   // there is no order with that memo
	TwoMemos      Reason = "two_memos"      // its text names several orders
	OtherAccount  Reason = "other_account"  // it went to another account than the payer was told
	AmountDiffers Reason = "amount_differs" // it is not exactly what the order says
	OrderPaid     Reason = "order_paid"     // the order is paid already
	TooLate       Reason = "too_late"       // the order is too old (Policy.LatePayment)
	Failed        Reason = "failed"         // it could not be settled for a fault of ours (Policy.RetryFor)
)

// Match is a transfer and what has become of it.
type Match struct {
	Transfer   string
	ReceivedAt time.Time
	Outcome    Outcome
	Reason     Reason    // with Unmatched and Ignored, and as it was before staff settled it; else empty
	Order      string    // the order that it paid, or that its memo named; may be empty
	Account    string    // whom it was credited to; may be empty
	Points     int64     // what was credited
	SettledAt  time.Time // zero: not looked at yet
	Staff      string    // who settled it by hand; empty: nobody
	Note       string    // why they did
}
