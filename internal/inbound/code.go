package inbound

import (
	"context"

	"github.com/gonebox/gonebox/internal/filter"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/otp"
)

// owner is whose filters a recipient's mail is shown to, and for which private domain of his.
type owner struct {
	account id.Account
	domain  id.Domain
}

// ownCodes are the codes that the filters of recipients' owners find, by the recipient's key: each wins over the
// built-in extractor's for that recipient alone. Mail to guests asks nobody.
func (s *Service) ownCodes(ctx context.Context, env *Envelope, c *message.Content, links []string) (map[string]*message.OTP, error) {
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
			code = ownCode(found, links)
			byOwner[r.owner] = code
		}
		byKey[r.key()] = code
	}
	return byKey, nil
}

// ownCode is a filter's code as it is kept, or nil. Who wrote the filter is certain of it.
func ownCode(f *filter.Found, links []string) *message.OTP {
	if f == nil {
		return nil
	}
	kind, by := otp.Alphanumeric, string(f.Filter)
	if f.Numeric {
		kind = otp.Numeric
	}
	return &message.OTP{Code: f.Code, Display: f.Display, Confidence: 1, Source: "filter", FilterID: &by, Kind: string(kind), Links: links}
}
