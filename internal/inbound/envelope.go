package inbound

import (
	"net/netip"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
)

// Envelope is what an SMTP session knows of a message beside its content (RFC 5321 §2.3.1).
type Envelope struct {
	From       string      // the reverse-path without brackets; "" is the null reverse-path
	To         []Recipient // in the order of the RCPT commands, at least one
	Helo       string      // the argument of EHLO or HELO, as given
	RemoteIP   netip.Addr  // the client's address, never IPv4-mapped
	Protocol   string      // the "with" clause of Received: SMTP, ESMTP, ESMTPS, UTF8SMTP or UTF8SMTPS (RFC 3848, RFC 6531)
	TLS        string      // version and cipher for Received, "" without TLS
	ReceivedAt time.Time   // when the last octet of the content came in

	// Memory covers the content and what Service.Memory says of it; nil: nothing is counted. Deliver gives back what turns out not to
	// be needed, and leaves it to the caller to release the rest.
	Memory *budget.Lease
}

// Recipient is a forward-path that Accept took.
type Recipient struct {
	Address string // as the client gave it, without brackets
	Local   string // the mailbox's local part: lower case, without the +tag
	Domain  string // lower-case A-labels

	rawFor time.Duration // how long the recipient's plan keeps raw messages
	owner  owner         // whose filters look for the code; zero: a guest's mailbox
}
