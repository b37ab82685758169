package inbound

import (
	"context"
	"strings"

	"golang.org/x/net/idna"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/problem"
)

// Accept checks one recipient of a mail (RFC 5321 §3.3). It reserves nothing: Deliver checks again.
//
// Errors, with the SMTP replies of docs/spec/smtp.md#replies: mail.address_syntax, mail.domain_not_served, mail.domain_suspended,
// mail.mailbox_unknown, mail.mailbox_full, mail.daily_cap.
func (s *Service) Accept(ctx context.Context, address string) (Recipient, error) {
	r, err := parsePath(address)
	if err != nil {
		return r, err
	}
	if p := ProjectOf(ctx); p != nil {
		return s.acceptForProject(ctx, p, r)
	}
	if r.staff { // <Postmaster> alone
		return s.acceptStaff(ctx, r)
	}
	account, private, err := s.Domains.Served(ctx, r.Domain)
	if s.Sink != nil && problem.Has(err, problem.MailDomainNotServed) && s.Sink.serves(ctx, r.Domain) {
		if account, err = s.Sink.Account(ctx); err == nil {
			r.sink = account
		}
	}
	if err != nil {
		return r, err
	}
	if private == "" && r.sink == "" && mailbox.IsStaffName(r.Local) {
		r.staff = true
		return s.acceptStaff(ctx, r)
	}
	m, limits, err := s.Mailboxes.Find(ctx, r.key())
	switch {
	case err != nil:
		return r, err
	case m != nil:
		r.Mailbox = m.ID
		r.rawFor, r.owner = limits.RawFor, owner{m.Owner.Account, m.Owner.Domain}
		return r, s.Mailboxes.CheckQuota(m, limits)
	case r.sink != "": // Deliver creates the mailbox
		limits, err = s.Mailboxes.CheckSink(ctx, account, r.Local)
		r.rawFor, r.owner = limits.RawFor, owner{account: account}
		return r, err
	case private == "":
		return r, problem.New(problem.MailMailboxUnknown)
	}
	limits, err = s.Mailboxes.CheckCatchAll(ctx, account, r.Local) // Deliver creates the mailbox
	r.rawFor, r.owner = limits.RawFor, owner{account, private}
	return r, err
}

// acceptStaff accepts a recipient whose mail is for staff (docs/spec/smtp.md#postmaster).
func (s *Service) acceptStaff(ctx context.Context, r Recipient) (Recipient, error) {
	m, limits, err := s.Mailboxes.Find(ctx, r.key())
	switch {
	case err != nil:
		return r, err
	case m == nil: // Deliver creates the mailbox
		limits, err = s.Mailboxes.CheckStaff(ctx)
	default:
		r.Mailbox = m.ID
		err = s.Mailboxes.CheckQuota(m, limits)
	}
	if err == nil && s.AllowStaff != nil && !s.AllowStaff(clientOf(ctx)) {
		err = problem.Detailf(problem.MailDailyCap, "as many messages came from this client today as it may send to staff")
	}
	r.rawFor = limits.RawFor
	return r, err
}

// ForStaff reports whether the mail is for the staff of the service: mail to postmaster and abuse is.
func (r Recipient) ForStaff() bool { return r.staff }

// TestOwner returns whose test the mail for the recipient belongs to: the account that owns the sink, or a project and its name. account is
// "" for all other recipients.
func (r Recipient) TestOwner() (account id.Account, project string) {
	if r.project != nil {
		return r.project.Account, r.project.Name
	}
	return r.sink, ""
}

// key returns the address of the recipient's mailbox.
func (r Recipient) key() string {
	switch {
	case r.project != nil:
		return r.project.Address
	case r.staff:
		return mailbox.StaffAddress
	}
	return r.Local + "@" + r.Domain
}

// parsePath parses a forward-path. It returns the local part in lower case, without quotes and without its +tag, and the
// domain in lower-case A-labels. It fails with mail.address_syntax where the domain is not valid.
func parsePath(address string) (Recipient, error) {
	r := Recipient{Address: address}
	at := strings.LastIndexByte(address, '@')
	if at < 0 { // <Postmaster> alone (RFC 5321 §4.1.1.3)
		r.Local, r.staff = strings.ToLower(address), true
		return r, nil
	}
	local, host := address[:at], strings.TrimSuffix(address[at+1:], ".")
	domain, err := aLabels(host)
	if err != nil {
		return r, err
	}
	local = strings.ToLower(unquoted(local))
	if tag := strings.IndexByte(local, '+'); tag > 0 {
		local = local[:tag]
	}
	r.Local, r.Domain = local, strings.ToLower(domain)
	return r, nil
}

// aLabels returns a host name with each label in its ASCII form (A-labels, RFC 5890 §2.3.2.1). It does not change the case of plain ASCII.
func aLabels(host string) (string, error) {
	if isPlainASCII(host) {
		return host, nil
	}
	domain, err := idna.Lookup.ToASCII(host)
	if err != nil {
		return asciiDomain(host)
	}
	return domain, nil
}

// isPlainASCII reports whether IDNA can change nothing in a host name but the case of letters: it is ASCII, and no label has two
// hyphens in a row, as encoded labels have (xn--, RFC 5890 §2.3.1). It saves most mails the cost of package idna.
func isPlainASCII(host string) bool {
	for i := range len(host) {
		if host[i] <= ' ' || host[i] >= 0x7f || host[i] == '-' && i > 0 && host[i-1] == '-' {
			return false
		}
	}
	return true
}

// asciiDomain returns a name that IDNA rejects but DNS allows, such as one with an underscore. It fails with mail.address_syntax for a
// name with spaces, control characters or characters outside ASCII.
func asciiDomain(host string) (string, error) {
	for i := range len(host) {
		if host[i] <= ' ' || host[i] >= 0x7f {
			return "", problem.Detailf(problem.MailAddressSyntax, "the domain is not a domain name")
		}
	}
	return host, nil
}

// unquoted removes the quotes of a quoted local part (RFC 5321 §4.1.2): "a.b"@x and a.b@x are the same mailbox.
func unquoted(local string) string {
	if len(local) < 2 || local[0] != '"' || local[len(local)-1] != '"' {
		return local
	}
	inner := local[1 : len(local)-1]
	if !strings.Contains(inner, `\`) {
		return inner
	}
	var b strings.Builder
	for i := 0; i < len(inner); i++ {
		if inner[i] == '\\' && i+1 < len(inner) {
			i++
		}
		b.WriteByte(inner[i])
	}
	return b.String()
}
