package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/resource"
)

func (a *API) staffMessages() {
	gone := []problem.Code{problem.MessageNotFound}
	registerStaff(a, httpkit.Operation{
		ID: "list-staff-messages", Method: http.MethodGet, Path: "/staff/messages", Summary: "List the mail to postmaster and abuse", Status: 200,
		Text: "Newest first: the mail to these addresses of all public domains. It is erased after 30 days, and the oldest earlier where there is much of it.",
	}, a.listStaffMessages)
	registerStaff(a, httpkit.Operation{
		ID: "get-staff-message", Method: http.MethodGet, Path: "/staff/messages/{id}", Summary: "Read a message to postmaster or abuse", Status: 200,
		Text: "Marks it as seen.", Codes: gone,
	}, a.getStaffMessage)
	registerStaff(a, httpkit.Operation{
		ID: "delete-staff-message", Method: http.MethodDelete, Path: "/staff/messages/{id}", Summary: "Delete a message to postmaster or abuse", Status: 204,
		Codes: gone,
	}, a.deleteStaffMessage)
}

func (a *API) listStaffMessages(ctx context.Context, in *httpkit.Paging) (*httpkit.EncodedMany[resource.Summary], error) {
	box, err := a.Mailboxes.OfStaff(ctx)
	if err != nil {
		return nil, err
	}
	q := message.Query{Cursor: in.Cursor, Limit: a.kit.PageSize(*in)}
	page, err := a.pageOf(ctx, q, a.listOf(box))
	if err != nil {
		return nil, err
	}
	return shownPage(page), nil
}

func (a *API) getStaffMessage(ctx context.Context, in *MessagePath) (*httpkit.EncodedOne[message.Message], error) {
	m, err := in.message()
	if err != nil {
		return nil, err
	}
	box, err := a.Mailboxes.OfStaff(ctx)
	if err != nil {
		return nil, err
	}
	return a.readMessage(ctx, box.ID, m)
}

func (a *API) deleteStaffMessage(ctx context.Context, in *MessagePath) (*struct{}, error) {
	m, err := in.message()
	if err != nil {
		return nil, err
	}
	box, err := a.Mailboxes.OfStaff(ctx)
	if err != nil {
		return nil, err
	}
	return nil, a.Messages.DeleteAudited(ctx, box.ID, m)
}
