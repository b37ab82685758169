package inbound

import (
	"net/netip"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/once"
)

// Envelope is what an SMTP session knows about a message besides its content (RFC 5321 §2.3.1).
type Envelope struct {
	From       string      // the reverse-path without brackets; "" is the null reverse-path
	To         []Recipient // in the order of the RCPT commands, at least one
	Helo       string      // the argument of EHLO or HELO, as given
	RemoteIP   netip.Addr  // the client's address, never IPv4-mapped
	Protocol   string      // the "with" clause of Received: SMTP, ESMTP, ESMTPS, UTF8SMTP or UTF8SMTPS (RFC 3848, RFC 6531)
	TLS        string      // version and cipher for Received, "" without TLS
	Username   string      // what the client signed in as with AUTH, as given and not checked; "": it did not
	ReceivedAt time.Time   // when the last octet of the content arrived

	// Memory is a lease on the memory that the content occupies and that Service.Memory returns for its size; nil: memory is not
	// limited. Once the mail is parsed, Deliver shrinks the lease to what it still needs. The caller releases it.
	Memory *budget.Lease

	// Source is how the mail came in, as a value of message.Summary.Source; "": over SMTP.
	Source string

	// NoClient says why the client that sent the mail is not known, so that SPF cannot be checked; "": RemoteIP is that client.
	NoClient string

	// Once identifies the mail, if it may be sent again and must then be stored once for each recipient; nil: it is stored each time.
	Once *once.Key
}

// Receipt is what became of a mail that Deliver has stored.
type Receipt struct {
	Stored   []Stored    // the messages, one for each mailbox
	SinkMail id.SinkMail // the identifier of the mail in package sink; "": the sink accepted it for no recipient
}

// Recipient is a forward-path that Accept has accepted.
type Recipient struct {
	Address string // as the client gave it, without brackets
	Local   string // the mailbox's local part: lower case, without the +tag
	Domain  string // lower-case A-labels

	Mailbox id.Mailbox // "": there is none yet

	rawFor time.Duration // how long the recipient's plan keeps raw messages
	staff  bool          // the mail is for the mailbox of the staff
	sink   id.Account    // the account for which the sink accepted the recipient; "": the sink did not accept it
	owner  owner         // of the mailbox, whose filters may find the code

	project *Project // that the client has signed in as; nil: none
}
