package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/allmail"
	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/diagnosis"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/resource"
	"github.com/gonebox/gonebox/internal/search"
	"github.com/gonebox/gonebox/internal/sink"
)

// accountMessages registers the operations on all messages of an account (docs/spec/inbox.md).
func (a *API) accountMessages() {
	list := httpkit.Operation{
		ID: "list-account-messages", Method: http.MethodGet, Path: "/me/messages", Summary: "List the messages of all mailboxes of the account, newest first; wait for one", Status: 200,
		Text: accountListText, Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other,
	}
	register(a, "messages", list, a.listAccountMessages)
	list.ID, list.Path, list.Text = "list-all-key-messages", "/keys/messages", "Scope `"+string(apikey.MessagesRead)+"`. "+accountListText
	list.Auth, list.Scope, list.Limit = []httpkit.Scheme{apiKey}, string(apikey.MessagesRead), ratelimit.KeyCalls
	register(a, "keys", list, a.listAllKeyMessages)
	count := httpkit.Operation{
		ID: "count-account-messages", Method: http.MethodGet, Path: "/me/messages/count", Summary: "Count the messages of all mailboxes of the account", Status: 200,
		Text: "The query restricts the messages as that of the list does.", Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other,
	}
	register(a, "messages", count, a.countAccountMessages)
	count.ID, count.Path, count.Text = "count-all-key-messages", "/keys/messages/count", "Scope `"+string(apikey.MessagesRead)+"`. "+count.Text
	count.Auth, count.Scope, count.Limit = []httpkit.Scheme{apiKey}, string(apikey.MessagesRead), ratelimit.KeyCalls
	register(a, "keys", count, a.countAllKeyMessages)
	change := httpkit.Operation{
		ID: "update-account-messages", Method: http.MethodPatch, Path: "/me/messages", Summary: "Mark many messages of the account as seen or unseen, or give them tags", Status: 200,
		Text: selectionText + changeText, Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other, BodyMax: selectionMax,
	}
	register(a, "messages", change, a.updateAccountMessages)
	change.ID, change.Method, change.Summary, change.Text = "delete-account-messages", http.MethodDelete, "Delete many messages of the account", selectionText
	register(a, "messages", change, a.deleteAccountMessages)
}

// The texts of the operations.
const (
	accountListText = "The query is that of `GET /mailboxes/me/messages`, and restricts the list to a mailbox, a domain, mailboxes of one source, or what a search finds. " +
		"With `wait`, the response is delayed until there is a message, at most that many seconds. No message that was accepted from its sender before or during the wait is missed."
	selectionText = "Exactly one of `ids`, `q` and `all` selects the messages: by their ids, those that a search finds, or all. Ids that the account does not have are ignored. " +
		"Messages that arrive meanwhile are not selected. `count` is how many messages were selected."
	changeText = " The body has `seen`, `tags` or both."
)

// AccountSummary is a message in the list of all messages of an account.
type AccountSummary struct {
	resource.Summary
	Address string  `json:"address" doc:"The address of the mailbox." example:"ada@gonebox.localhost"`
	Project *string `json:"project" nullable:"true" doc:"The name of the project whose mailbox it is, or null." example:"shop-tests"`
}

// AccountQuery is the query of the list of all messages of an account.
type AccountQuery struct {
	Newer
	MessageFilter
	httpkit.Paging
	Mailbox string `query:"mailbox" maxLength:"320" doc:"Only messages in the mailbox with this id or address."`
	Domain  string `query:"domain" maxLength:"255" doc:"Only messages in mailboxes on this domain."`
	Source  string `query:"source" enum:"guest,session,account,key,catchall,sink,staff,project" doc:"Only messages in mailboxes that were created so: by the account, by a key, by mail to a private domain (catchall), by mail that the sink took, with a project."`
	Project string `query:"project" maxLength:"40" doc:"Only messages of the project with this name."`
	Q       string `query:"q" maxLength:"1000" doc:"Only messages that this search finds: words, \"phrases\", and prefixes such as from:, subject:, after: and is:unread. docs/spec/mailpit.md in the source has all of them."`
}

// query returns the query of package allmail. Error: request.invalid.
func (q *AccountQuery) query() (all allmail.Query, err error) {
	if all.After, all.Since, err = q.bounds(); err != nil {
		return all, err
	}
	if q.Q != "" {
		found, err := search.Parse("?q", q.Q, time.UTC)
		if err != nil {
			return all, err
		}
		all.Search = &found
	}
	all.Cursor, all.Match = q.Cursor, q.match()
	all.Domain, all.Source = strings.ToLower(q.Domain), mailbox.Source(q.Source)
	all.Mailbox, all.Project = strings.ToLower(q.Mailbox), q.Project
	return all, nil
}

// CountQuery is the part of the query of the list that a count takes.
type CountQuery struct {
	Mailbox string `query:"mailbox" maxLength:"320" doc:"Only messages in the mailbox with this id or address."`
	Domain  string `query:"domain" maxLength:"255" doc:"Only messages in mailboxes on this domain."`
	Source  string `query:"source" enum:"guest,session,account,key,catchall,sink,staff,project" doc:"Only messages in mailboxes that were created so."`
	Project string `query:"project" maxLength:"40" doc:"Only messages of the project with this name."`
	Q       string `query:"q" maxLength:"1000" doc:"Only messages that this search finds. See the parameter q of the list."`
}

// MessageCount is how many messages there are.
type MessageCount struct {
	Count  int `json:"count" doc:"How many messages there are." example:"12"`
	Unread int `json:"unread" doc:"How many of them were not read yet." example:"3"`
}

func (a *API) countAccountMessages(ctx context.Context, in *CountQuery) (*httpkit.One[MessageCount], error) {
	return a.countMessages(ctx, from(ctx).login.Account.ID, in)
}

func (a *API) countAllKeyMessages(ctx context.Context, in *CountQuery) (*httpkit.One[MessageCount], error) {
	return a.countMessages(ctx, from(ctx).key.Account, in)
}

func (a *API) countMessages(ctx context.Context, account id.Account, in *CountQuery) (*httpkit.One[MessageCount], error) {
	list := AccountQuery{Mailbox: in.Mailbox, Domain: in.Domain, Source: in.Source, Project: in.Project, Q: in.Q}
	q, err := list.query()
	if err != nil {
		return nil, err
	}
	c, err := a.AllMail.Count(ctx, account, q)
	return httpkit.Single(MessageCount{Count: c.Messages, Unread: c.Unread}), err
}

func (a *API) listAccountMessages(ctx context.Context, in *AccountQuery) (*httpkit.EncodedWait[AccountSummary], error) {
	login := from(ctx).login
	if in.Wait == 0 && in.Q == "" && in.Cursor == "" {
		a.AllMail.Warm(login.Account.ID) // the page that shows the list has a field for searches
	}
	check := message.CredentialCheck{Check: func(ctx context.Context) error { return a.Accounts.Check(ctx, login) }}
	return a.messagesOfAccount(ctx, login.Account.ID, in, check)
}

func (a *API) listAllKeyMessages(ctx context.Context, in *AccountQuery) (*httpkit.EncodedWait[AccountSummary], error) {
	return a.messagesOfAccount(ctx, from(ctx).key.Account, in, a.credentialCheck(ctx))
}

func (a *API) messagesOfAccount(ctx context.Context, account id.Account, in *AccountQuery, check message.CredentialCheck) (*httpkit.EncodedWait[AccountSummary], error) {
	q, err := in.query()
	if err != nil {
		return nil, err
	}
	wait, done, err := a.kit.Poll(ctx, in.Wait, a.leftOfKey(ctx, a.kit.WaitMax))
	if err != nil {
		return nil, err
	}
	defer done()
	q.Limit, q.Wait, q.Credential = a.kit.PageSize(in.Paging), wait, check
	began := a.kit.Clock.Now()
	var page allmail.Page
	_, err = a.pageOf(ctx, q.Query, func(ctx context.Context, narrowed message.Query) (message.Page, error) {
		q.Query = narrowed
		page, err = a.AllMail.List(ctx, account, q)
		return page.Page, err
	})
	if err != nil {
		return nil, err
	}
	shown := &httpkit.EncodedWait[AccountSummary]{Body: httpkit.EncodedWaited[AccountSummary]{EncodedList: httpkit.EncodedList[AccountSummary]{
		AppendItem: func(b []byte, i int) []byte { return appendAddressed(b, page, i) },
		Items:      len(page.Messages), Octets: page.Octets + len(page.Messages)*addressMax, NextCursor: page.Next,
	}}}
	if len(page.Messages) == 0 && page.Next == "" && wait > 0 {
		shown.Body.Diagnosis = a.diagnose(ctx, diagnosis.Wait{Began: began, Query: q, Account: account})
	}
	return shown, nil
}

// addressMax is about what the members address and project of a summary have in octets.
const addressMax = 400

// appendAddressed appends a summary with the address of its mailbox and its project.
func appendAddressed(b []byte, page allmail.Page, i int) []byte {
	m := page.Messages[i]
	b = m.AppendJSON(b)
	b = append(b[:len(b)-len("}")], `,"address":`...)
	address := page.Addresses[m.MailboxID()]
	text, _ := json.Marshal(address) // never fails for a string
	b = append(append(b, text...), `,"project":`...)
	text = []byte("null")
	if name, ok := mailbox.ProjectName(address); ok {
		text, _ = json.Marshal(name)
	}
	return append(append(b, text...), "}"...)
}

// selectionMax is the largest body that selects messages, in octets.
const selectionMax = 64 << 10

// Selection is the part of a body that selects messages of an account.
type Selection struct {
	IDs []string `json:"ids,omitempty" maxItems:"1000" doc:"The messages with these ids."`
	Q   *string  `json:"q,omitempty" maxLength:"1000" doc:"The messages that this search finds. See the parameter q of the list."`
	All bool     `json:"all,omitempty" doc:"With true, all messages."`
}

// selection returns the selection of package allmail. Error: request.invalid.
func (s *Selection) selection() (sel allmail.Selection, err error) {
	ways := 0
	for _, given := range []bool{s.IDs != nil, s.Q != nil, s.All} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return sel, problem.Detailf(problem.RequestInvalid, "the body must have exactly one of ids, q and all")
	}
	if s.IDs != nil {
		sel.IDs = make([]id.Message, 0, len(s.IDs))
	}
	for _, text := range s.IDs {
		if m, err := id.Parse[id.Message](text); err == nil { // what is no id is the id of no message
			sel.IDs = append(sel.IDs, m)
		}
	}
	if s.Q != nil {
		q, err := search.ParseSelection("/q", *s.Q, time.UTC)
		if err != nil {
			return sel, err
		}
		sel.Search = &q
	}
	return sel, nil
}

// messagesDeletion is the body that deletes messages, and messagesChange the one that marks them or gives them tags.
type (
	messagesDeletion struct {
		_ struct{} `additionalProperties:"false"`
		Selection
	}
	messagesChange struct {
		_ struct{} `additionalProperties:"false"`
		Selection
		Seen *bool    `json:"seen,omitempty" doc:"Whether the messages count as read." example:"true"`
		Tags []string `json:"tags,omitempty" doc:"The tags that the messages get instead of those that they have; empty for none. Other characters than letters and digits of ASCII and - _ . @ become a space. At most 20 tags, of which 100 characters count." example:"[\"checkout\"]"`
	}
)

// change returns the change of package allmail. Error: request.invalid.
func (c *messagesChange) change() (change allmail.Change, err error) {
	if c.Seen == nil && c.Tags == nil {
		return change, problem.Detailf(problem.RequestInvalid, "the body must have seen, tags or both")
	}
	change.Seen = c.Seen
	if c.Tags == nil {
		return change, nil
	}
	for i, text := range c.Tags {
		if sink.CleanTag(text) == "" {
			return change, problem.Invalid("/tags/"+strconv.Itoa(i), "must be a tag: letters, digits and - _ . @")
		}
	}
	tags, err := sink.ParseTags("/tags", c.Tags)
	change.Tags = &tags
	return change, err
}

// SelectedCount is how many messages a change was for.
type SelectedCount struct {
	Count int `json:"count" doc:"How many messages were selected." example:"12"`
}

// changeTime is how long a change of many messages may take beyond the time for a response.
const changeTime = 2 * time.Minute

func (a *API) updateAccountMessages(ctx context.Context, in *struct{ Body messagesChange }) (*httpkit.One[SelectedCount], error) {
	sel, err := in.Body.selection()
	if err != nil {
		return nil, err
	}
	change, err := in.Body.change()
	if err != nil {
		return nil, err
	}
	a.kit.Extend(ctx, changeTime)
	count, err := a.AllMail.Update(ctx, from(ctx).account.ID, sel, change)
	return httpkit.Single(SelectedCount{count}), err
}

func (a *API) deleteAccountMessages(ctx context.Context, in *struct{ Body messagesDeletion }) (*httpkit.One[SelectedCount], error) {
	sel, err := in.Body.selection()
	if err != nil {
		return nil, err
	}
	a.kit.Extend(ctx, changeTime)
	count, err := a.AllMail.Delete(ctx, from(ctx).account.ID, sel)
	return httpkit.Single(SelectedCount{count}), err
}

// locate returns the message that a call names, with its mailbox. Error: message.not_found.
func (a *API) locate(ctx context.Context, path MessagePath) (box id.Mailbox, m id.Message, err error) {
	if m, err = path.message(); err != nil {
		return "", "", err
	}
	box, err = a.boxOf(ctx, m)
	return box, m, err
}

// boxOf returns the mailbox of a message that a call names: that of its mailbox token, or one of its account. Error: message.not_found.
func (a *API) boxOf(ctx context.Context, m id.Message) (id.Mailbox, error) {
	switch c := from(ctx); {
	case c.mailbox != nil:
		return c.mailbox.ID, nil
	case c.account != nil:
		return a.AllMail.Box(ctx, c.account.ID, m)
	default:
		return a.AllMail.Box(ctx, c.key.Account, m)
	}
}
