package fault

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// Report is a report that a mail could not be delivered (RFC 3464).
type Report struct {
	Hostname   string // of this server
	ID         string // of the report: the left part of its Message-ID, and its boundary
	At         time.Time
	To         string // the sender of the mail, whom the report is for
	EnvelopeID string // as given in ENVID; "": none
	ReceivedAt time.Time
	Recipients []ReportedRecipient
	Full       bool // the report has the whole mail instead of its header
	Mail       []byte
}

// ReportedRecipient is a recipient that a mail could not be delivered to. Original is the value of ORCPT; "": none.
type ReportedRecipient struct{ Address, Original string }

const (
	returnedMax = 1 << 20 // octets of a mail that a report has wholly
	headerMax   = 64 << 10
	diagnostic  = "550 5.1.1 The address asks for a report of failed delivery"
)

// Append appends the mail to buf. Its lines end in CRLF.
func (r *Report) Append(buf []byte) []byte {
	b := bytes.NewBuffer(buf)
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\r\n", args...) }
	boundary := "report-" + r.ID
	line("From: Mail Delivery System <MAILER-DAEMON@%s>", r.Hostname)
	line("To: <%s>", r.To)
	line("Subject: Undelivered mail returned to sender")
	line("Date: %s", r.At.Format(time.RFC1123Z))
	line("Message-ID: <%s@%s>", r.ID, r.Hostname)
	line("Auto-Submitted: auto-replied")
	line("MIME-Version: 1.0")
	line("Content-Type: multipart/report; report-type=delivery-status; boundary=\"%s\"\r\n", boundary)
	line("--%s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n", boundary)
	line("Your mail could not be delivered to:\r\n")
	for _, to := range r.Recipients {
		line("  <%s>: %s", to.Address, diagnostic)
	}
	line("\r\n--%s\r\nContent-Type: message/delivery-status\r\n", boundary)
	line("Reporting-MTA: dns; %s", r.Hostname)
	if id := plainXtext(r.EnvelopeID); id != "" {
		line("Original-Envelope-Id: %s", id)
	}
	line("Arrival-Date: %s", r.ReceivedAt.Format(time.RFC1123Z))
	for _, to := range r.Recipients {
		line("")
		if kind, address, ok := strings.Cut(to.Original, ";"); ok {
			line("Original-Recipient: %s; %s", strings.ToLower(kind), plainXtext(address))
		}
		line("Final-Recipient: rfc822; %s", to.Address)
		line("Action: failed\r\nStatus: 5.1.1")
		line("Diagnostic-Code: smtp; %s", diagnostic)
	}
	kind, mail := "text/rfc822-headers", header(r.Mail)
	if r.Full && len(r.Mail) <= returnedMax {
		kind, mail = "message/rfc822", r.Mail
	}
	line("\r\n--%s\r\nContent-Type: %s\r\nContent-Transfer-Encoding: 8bit\r\n", boundary, kind)
	b.Write(mail)
	line("\r\n--%s--", boundary)
	return b.Bytes()
}

// header returns the header of a mail, at most headerMax octets of it, with whole lines.
func header(mail []byte) []byte {
	if end := bytes.Index(mail, []byte("\r\n\r\n")); end >= 0 {
		mail = mail[:end+2]
	}
	if len(mail) > headerMax {
		mail = mail[:bytes.LastIndexByte(mail[:headerMax], '\n')+1]
	}
	return mail
}

// plainXtext decodes xtext (RFC 3461 §4). Control characters become "?", so that a value cannot add a line.
func plainXtext(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '+' && i+2 < len(text) {
			if n, err := fmt.Sscanf(text[i+1:i+3], "%02X", &c); n == 1 && err == nil {
				i += 2
			}
		}
		if c < ' ' || c == 0x7f {
			c = '?'
		}
		b.WriteByte(c)
	}
	return b.String()
}
