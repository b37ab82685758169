package inbound

import (
	"net/netip"
	"time"

	"github.com/gonebox/gonebox/internal/id"
)

// Attempt is the outcome of a mail for one recipient, known at RCPT if the recipient was refused, else after the content.
type Attempt struct {
	At        time.Time
	Client    string     // RemoteIP as limits count it (ratelimit.AddrIdentity)
	RemoteIP  netip.Addr // never IPv4-mapped
	Helo      string
	TLS       bool
	From      string        // the reverse-path
	Recipient Recipient     // Local and Domain are set
	Message   id.Message    // the stored message; "": the recipient was refused
	Reply     int           // the three digits of the reply
	Code      string        // its enhanced status code (RFC 3463)
	Reason    string        // its text
	Took      time.Duration // since the command or the content began
}

// Stored is the message that was stored for a mail in one mailbox.
type Stored struct {
	Recipient Recipient
	Message   id.Message
}

// Key returns the address of the recipient's mailbox: the local part in lower case without its +tag, and the domain in A-labels.
func (r Recipient) Key() string { return r.key() }

// Normalize parses a forward-path as Accept does, without looking for the mailbox. It returns false where the address is not valid.
func Normalize(address string) (Recipient, bool) {
	r, err := parsePath(address)
	return r, err == nil
}

// stored lists the messages that were stored for a mail, one for each mailbox. Recipients with the same mailbox share one.
func (m *mail) stored(env *Envelope) []Stored {
	all := make([]Stored, 0, len(m.deliveries))
	for _, r := range env.To {
		i := len(all)
		if i < len(m.deliveries) && r.key() == m.keys[i] { // keys are in the order of the recipients, without duplicates
			r.Mailbox = m.deliveries[i].Box
			all = append(all, Stored{Recipient: r, Message: m.deliveries[i].Message})
		}
	}
	return all
}
