package httpapi

import (
	"context"
	"log/slog"

	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/diagnosis"
	"github.com/gonebox/gonebox/internal/resource"
)

// diagnose says why a wait of the caller found nothing (docs/spec/messages.md#why-a-wait-found-nothing). It returns nil if that
// cannot be found out: the response without it is as good as it was before.
func (a *API) diagnose(ctx context.Context, w diagnosis.Wait) *resource.Diagnosis {
	if c := from(ctx); c.key != nil && c.mailbox == nil { // not the token of a mailbox that is bound to a key
		w.Account, w.Discreet = c.key.Account, !c.key.Has(apikey.MessagesRead)
	}
	d, err := a.Diagnoses.Diagnose(ctx, w)
	if err != nil {
		if ctx.Err() == nil {
			a.kit.Logger.WarnContext(ctx, "diagnosing a wait failed", slog.Any("error", err))
		}
		return nil
	}
	return d
}
