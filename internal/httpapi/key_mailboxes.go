package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/resource"
)

// keyMailboxes registers the operations that developer keys may call, on the mailboxes of their account.
func (a *API) keyMailboxes(group string) {
	with := func(method, id, path, summary string, status int, scope apikey.Scope, codes ...problem.Code) httpkit.Operation {
		return httpkit.Operation{
			ID: id, Method: method, Path: "/keys/mailboxes" + path, Summary: summary, Status: status, Codes: codes,
			Text: "Scope `" + string(scope) + "`.", Auth: []httpkit.Scheme{apiKey}, Scope: string(scope), Limit: ratelimit.KeyCalls,
		}
	}
	create := with(http.MethodPost, "create-key-mailbox", "", "Create a mailbox of the account", 201, apikey.MailboxesWrite,
		problem.MailboxLocalPartTaken, problem.MailboxLocalPartReserved, problem.MailboxDomainUnavailable,
		problem.MailboxTTLTooLong, problem.MailboxLimitReached)
	create.Limit = ratelimit.KeyMailboxCreate
	create.Statuses = map[problem.Code]int{problem.MailboxLocalPartTaken: http.StatusUnprocessableEntity} // public since the first version
	create.Text += " `token` is present for keys that also have `messages:read` and `otp:read`. It expires with the key, and is rejected outside the key's networks."
	register(a, group, create, a.createKeyMailbox)
	list := with(http.MethodGet, "list-key-mailboxes", "", "List the account's mailboxes", 200, apikey.MailboxesRead)
	list.Text += " Newest first, all mailboxes of the account; each with a new token for keys that also have `messages:read`, `otp:read` and `mailboxes:write`."
	register(a, group, list, a.listKeyMailboxes)
	register(a, group, with(http.MethodDelete, "destroy-key-mailbox", "/{id}", "Destroy a mailbox now", 204,
		apikey.MailboxesWrite, problem.MailboxNotFound), a.destroyKeyMailbox)
	messages := with(http.MethodGet, "list-key-messages", "/{id}/messages", "List a mailbox's messages, newest first; wait for one", 200,
		apikey.MessagesRead, problem.MailboxNotFound)
	messages.Text += " The query is the same as that of `GET /mailboxes/me/messages`."
	register(a, group, messages, a.listKeyMessages)
	deliveries := with(http.MethodGet, "list-key-mail-deliveries", "/{id}/deliveries", "List what became of the mail for a mailbox's address", 200,
		apikey.MessagesRead, problem.MailboxNotFound)
	deliveries.Text += " " + deliveryLogText
	register(a, group, deliveries, a.listKeyMailDeliveries)
	code := with(http.MethodGet, "get-key-latest-otp", "/{id}/otp/latest", "Get a mailbox's latest one-time code; wait for it", 200,
		apikey.OTPRead, problem.MailboxNotFound, problem.OTPNotFound)
	code.Text += " The query is the same as that of `GET /mailboxes/me/otp/latest`."
	register(a, group, code, a.latestKeyOTP)
}

// MailboxPath is the path of operations on one mailbox of an account.
type MailboxPath struct {
	ID string `path:"id" doc:"The mailbox's id."`
}

// mailbox returns the id in the path. A malformed id gets the same response as an unknown one.
func (p MailboxPath) mailbox() (id.Mailbox, error) {
	box, err := id.Parse[id.Mailbox](p.ID)
	if err != nil {
		return "", problem.New(problem.MailboxNotFound)
	}
	return box, nil
}

// owned returns the mailbox in a path, if it belongs to the account of the calling key. Error: mailbox.not_found.
func (a *API) owned(ctx context.Context, p MailboxPath) (*mailbox.Mailbox, error) {
	box, err := p.mailbox()
	if err != nil {
		return nil, err
	}
	return a.Mailboxes.Owned(ctx, from(ctx).key.Account, box)
}

func (a *API) createKeyMailbox(ctx context.Context, in *struct {
	Body *mailboxCreation `required:"false"`
},
) (*httpkit.One[resource.Mailbox], error) {
	key := from(ctx).key
	return a.newMailbox(ctx, in.Body.params(), mailbox.Owner{Account: key.Account, Key: key.Prefix})
}

func (a *API) listKeyMailboxes(ctx context.Context, in *httpkit.Paging) (*httpkit.Many[resource.Mailbox], error) {
	return a.accountMailboxes(ctx, from(ctx).key.Account, *in)
}

func (a *API) destroyKeyMailbox(ctx context.Context, in *MailboxPath) (*struct{}, error) {
	box, err := in.mailbox()
	if err != nil {
		return nil, err
	}
	return nil, a.Mailboxes.DestroyOwned(ctx, from(ctx).key.Account, box)
}

func (a *API) listKeyMessages(ctx context.Context, in *struct {
	MailboxPath
	Newer
	MessageFilter
	httpkit.Paging
},
) (*httpkit.EncodedWait[resource.Summary], error) {
	m, err := a.owned(ctx, in.MailboxPath)
	if err != nil {
		return nil, err
	}
	return a.messagesOf(ctx, m, in.Newer, in.match(), in.Paging, a.stillOwned(ctx, m))
}

func (a *API) latestKeyOTP(ctx context.Context, in *struct {
	MailboxPath
	CodeFilter
},
) (*httpkit.EncodedOne[resource.OTP], error) {
	m, err := a.owned(ctx, in.MailboxPath)
	if err != nil {
		return nil, err
	}
	return a.codeOf(ctx, m, in.CodeFilter, a.stillOwned(ctx, m))
}

// stillOwned returns a function that checks, after a wait without a result, whether the mailbox still exists.
func (a *API) stillOwned(ctx context.Context, m *mailbox.Mailbox) func() error {
	return func() error {
		_, err := a.Mailboxes.Owned(ctx, m.Owner.Account, m.ID)
		return err
	}
}
