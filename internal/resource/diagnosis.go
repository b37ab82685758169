package resource

import (
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
)

// Diagnosis says why a wait ended without a message.
type Diagnosis struct {
	Summary string  `json:"summary" doc:"The likeliest cause in one sentence, which may quote a message." example:"A message arrived, but its subject \"Welcome\" does not contain \"sign-in\"."`
	Causes  []Cause `json:"causes" nullable:"false" minItems:"1" maxItems:"20" doc:"What happened instead during the wait and the minute before it, the likeliest cause first, at most five of each code."`
}

// Cause is one thing that happened instead of what was waited for.
type Cause struct {
	Code      CauseCode   `json:"code" enum:"blocked,mailbox_full,quota,refused,no_code,no_link,filtered,arrived_before,other_address,nothing_arrived" doc:"What happened: the sender or the recipient is blocked; the mailbox was full; it had its mail for today; the mail was refused for another reason; a message has no code; it has no link; a filter left it out; it is not after the one in after, or not later than since; it was for another, similar address; nothing arrived at all." example:"filtered"`
	Detail    string      `json:"detail" doc:"What happened, in a sentence, which may quote the message." example:"A message arrived, but its subject \"Welcome\" does not contain \"sign-in\"."`
	At        clock.Stamp `json:"at" doc:"When the message was received or refused; of nothing_arrived, when the wait ended."`
	Address   string      `json:"address,omitempty" doc:"The address that the mail was for." example:"ada@gonebox.localhost"`
	MessageID id.Message  `json:"messageId,omitempty" doc:"The message." example:"msg_01jzq8w3v5e4t9n2k7m6x0y1dr"`
}

// CauseCode names a kind of cause. The values are public and never change.
type CauseCode string

// The kinds of causes, the likeliest first.
const (
	CauseBlocked        CauseCode = "blocked"
	CauseMailboxFull    CauseCode = "mailbox_full"
	CauseQuota          CauseCode = "quota"
	CauseRefused        CauseCode = "refused"
	CauseNoCode         CauseCode = "no_code"
	CauseNoLink         CauseCode = "no_link"
	CauseFiltered       CauseCode = "filtered"
	CauseArrivedBefore  CauseCode = "arrived_before"
	CauseOtherAddress   CauseCode = "other_address"
	CauseNothingArrived CauseCode = "nothing_arrived"
)
