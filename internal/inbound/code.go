package inbound

import (
	"context"

	"github.com/gonebox/gonebox/internal/filter"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/otp"
)

// owner identifies the filters that apply to a recipient: those of the account that owns the mailbox, for its private domain if it has one.
type owner struct {
	account id.Account // "": a guest's mailbox, which has no filters
	domain  id.Domain  // "": a public domain
}

// filterCodes returns, by Recipient.key, the codes that the filters of the mailboxes' owners find in the mail; the code is nil where no
// filter matches. For that recipient alone, such a code replaces the one of the built-in extractor. It returns nil if no recipient's
// mailbox belongs to an account.
func (s *Service) filterCodes(ctx context.Context, env *Envelope, c *message.Content, links []string) (map[string]*message.OTP, error) {
	var accounts map[id.Account]bool
	for _, r := range env.To {
		if r.owner.account == "" {
			continue
		}
		if accounts == nil {
			accounts = make(map[id.Account]bool)
		}
		accounts[r.owner.account] = true
	}
	if accounts == nil {
		return nil, nil
	}
	mail := filter.Mail{From: c.From.Address, Subject: c.Subject, Text: c.Text}
	byOwner, byKey := make(map[owner]*message.OTP), make(map[string]*message.OTP)
	for _, r := range env.To {
		if r.owner.account == "" {
			continue
		}
		code, known := byOwner[r.owner]
		if !known {
			found, err := s.Filters.Match(ctx, r.owner.account, r.owner.domain, mail, len(accounts))
			if err != nil {
				return nil, err
			}
			code = filterCode(found, links)
			byOwner[r.owner] = code
		}
		byKey[r.key()] = code
	}
	return byKey, nil
}

// filterCode returns the stored form of a code that a filter found, and nil for nil. The confidence is 1, since the owner wrote the filter.
func filterCode(f *filter.Found, links []string) *message.OTP {
	if f == nil {
		return nil
	}
	kind, by := otp.Alphanumeric, string(f.Filter)
	if f.Numeric {
		kind = otp.Numeric
	}
	return &message.OTP{Code: f.Code, Display: f.Display, Confidence: 1, Source: "filter", FilterID: &by, Kind: string(kind), Links: links}
}
