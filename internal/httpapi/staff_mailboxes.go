package httpapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

func (a *API) staffMailboxes() {
	gone := []problem.Code{problem.MailboxNotFound}
	registerStaff(a, httpkit.Operation{
		ID: "find-mailbox", Method: http.MethodGet, Path: "/staff/mailboxes/{address}", Summary: "Show a mailbox by its address", Status: 200,
		Text: "Who owns it and how much is in it, but not its mail.", Codes: gone,
	}, a.findMailbox)
	registerStaff(a, httpkit.Operation{
		ID: "end-mailbox", Method: http.MethodDelete, Path: "/staff/mailboxes/{address}", Summary: "End a mailbox by its address", Status: 204,
		Text: "Its tokens are void at once, and its contents are erased within a minute.", Codes: gone,
	}, a.endMailbox)
	registerStaff(a, httpkit.Operation{
		ID: "list-deliveries", Method: http.MethodGet, Path: "/staff/deliveries", Summary: "List what became of the mail for an address", Status: 200,
		Text: deliveryLogText + " Addresses that never were a mailbox have entries too.",
	}, a.listDeliveriesTo)
}

// StaffMailbox is a mailbox as staff see it.
type StaffMailbox struct {
	ID           id.Mailbox  `json:"id" doc:"The identifier of the mailbox." example:"mbx_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	Address      string      `json:"address" doc:"The address." example:"shiny-otter-0042@box.example.org"`
	Source       string      `json:"source" doc:"What made it: guest, session, account, key, catchall, sink or staff." example:"guest"`
	Account      *id.Account `json:"account" doc:"The account that owns it, or null." example:"acc_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	CreatedAt    clock.Stamp `json:"createdAt" doc:"When it was created."`
	ExpiresAt    clock.Stamp `json:"expiresAt" doc:"When it expires."`
	MessageCount int         `json:"messageCount" doc:"The number of messages in it." example:"3"`
}

// AddressPath is the address of a mailbox.
type AddressPath struct {
	Address string `path:"address" maxLength:"320" doc:"The address of the mailbox, without a +tag."`
}

func (a *API) findMailbox(ctx context.Context, in *AddressPath) (*httpkit.One[StaffMailbox], error) {
	m, err := a.Mailboxes.At(ctx, in.Address)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(StaffMailbox{
		ID: m.ID, Address: m.Address, Source: string(m.Source), Account: textOrNull(m.Owner.Account), CreatedAt: clock.Stamp{Time: m.CreatedAt},
		ExpiresAt: clock.Stamp{Time: m.ExpiresAt}, MessageCount: m.MessageCount,
	}), nil
}

func (a *API) endMailbox(ctx context.Context, in *AddressPath) (*struct{}, error) {
	return nil, a.Mailboxes.EndAt(ctx, in.Address)
}

func (a *API) listDeliveriesTo(ctx context.Context, in *struct {
	Address string `query:"address" required:"true" minLength:"1" maxLength:"320" doc:"The address, without a +tag." example:"shiny-otter-0042@box.example.org"`
},
) (*httpkit.Many[MailDelivery], error) {
	all, err := a.Deliveries.List(ctx, strings.ToLower(in.Address), time.Time{})
	if err != nil {
		return nil, err
	}
	shown := make([]MailDelivery, len(all))
	for i := range all {
		shown[i] = shownMailDelivery(&all[i])
	}
	return httpkit.Page(shown, ""), nil
}
