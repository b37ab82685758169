package httpapi

import (
	"context"

	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/mailcheck"
)

// checkText describes the check of a message (docs/spec/messages.md#checks).
const checkText = "Compares the features of its HTML and CSS with what mail clients support, by the data of caniemail.com, and checks its parts and header fields. Nothing is fetched, and the message is not marked as seen. "

func (a *API) checkMessage(ctx context.Context, in *MessagePath) (*httpkit.One[mailcheck.Report], error) {
	box, m, err := a.locate(ctx, *in)
	if err != nil {
		return nil, err
	}
	full, err := a.Messages.Original(ctx, box, m, a.reserveReading(ctx))
	if err != nil {
		return nil, err
	}
	report, err := a.Checks.Check(mailcheck.Mail{Message: full.Message, TextMissing: full.TextDerived})
	if err != nil {
		return nil, err
	}
	return httpkit.Single(*report), nil
}
