package ingress

import (
	"context"
	"encoding/json"
	"strings"
)

// postmark are the requests of an inbound stream of Postmark that includes the raw message.
type postmark struct{ Config }

func (postmark) bodyMax(size int64) int64 { return encodedMax(encodedMax(size)) } // text and attachments are there twice

func (postmark) bounces() bool { return false }

// admit requires Basic authentication.
func (k postmark) admit(r *Request) error { return requireBasic(r.Header, k.Config) }

// postmarkAddress is an address of a header field.
type postmarkAddress struct {
	Email string
}

// postmarkMail is the part of a request that is used.
type postmarkMail struct {
	MessageID         string
	OriginalRecipient string
	FromFull          postmarkAddress
	ToFull            []postmarkAddress
	CcFull            []postmarkAddress
	BccFull           []postmarkAddress
	RawEmail          string
}

// postmarkDomain is the domain of an inbound stream's own address, to which mail for other addresses is forwarded.
const postmarkDomain = "@inbound.postmarkapp.com"

// parse returns the mail. The reverse-path is not passed, so that it is the author's address.
func (k postmark) parse(_ context.Context, _ *Request, body []byte) (*mail, error) {
	var in postmarkMail
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, unread("the request is not the JSON of an inbound message")
	}
	if in.RawEmail == "" {
		return nil, unread("there is no RawEmail; include the raw email content in the JSON payload")
	}
	m := &mail{from: in.FromFull.Email, id: in.MessageID, data: []byte(in.RawEmail), to: addressesOf([]string{in.OriginalRecipient})}
	if len(m.to) == 0 || strings.HasSuffix(strings.ToLower(m.to[0]), postmarkDomain) {
		m.to = nil
		for _, all := range [][]postmarkAddress{in.ToFull, in.CcFull, in.BccFull} {
			for _, a := range all {
				if a.Email != "" && !strings.HasSuffix(strings.ToLower(a.Email), postmarkDomain) {
					m.to = append(m.to, a.Email)
				}
			}
		}
	}
	return m, m.check()
}
