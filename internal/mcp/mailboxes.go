package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gonebox/gonebox/internal/apiclient"
)

// addMailboxTools adds the tools for mailboxes.
func (t *toolset) addMailboxTools(server *sdk.Server) {
	token := " Keep the token: the other tools take it."
	if t.KeepTokens {
		token = ""
	}
	add(t, server, toolDefinition{
		name: "create_mailbox", title: "Create a mailbox",
		description: "Creates a disposable mailbox and returns its address. Give the address to the site that sends the mail." + token,
	}, createMailbox)
	add(t, server, toolDefinition{
		name: "extend_mailbox", title: "Extend a mailbox",
		description: "Lets a mailbox live longer, counted from now, and returns when it expires.",
	}, extendMailbox)
	add(t, server, toolDefinition{
		name: "delete_mailbox", title: "Delete a mailbox", destructive: true, idempotent: true,
		description: "Deletes a mailbox with all of its messages. Nothing can be received at its address afterwards.",
	}, deleteMailbox)
	add(t, server, toolDefinition{
		name: "list_mailboxes", title: "List mailboxes", readOnly: true, idempotent: true,
		description: "Lists the live mailboxes of the account, newest first, at most 100. Needs a developer key.",
	}, listMailboxes)
}

// createArgs are the arguments of create_mailbox. The API has defaults for those that are zero.
type createArgs struct {
	Name       string `json:"name,omitempty" jsonschema:"The part of the address before the @: lower-case letters, digits, dot, hyphen and underscore. By default two words and a number."`
	Domain     string `json:"domain,omitempty" jsonschema:"The domain of the address. By default the service's first one."`
	TTLSeconds int    `json:"ttlSeconds,omitempty" jsonschema:"Seconds to live. By default what the plan says."`
	ClientID   string `json:"clientId,omitempty" jsonschema:"An identifier of your choice: calling again with the same one returns the same mailbox instead of another one. Needs a developer key over HTTP."`
}

// mailboxResult is the result of create_mailbox and extend_mailbox.
type mailboxResult struct {
	Mailbox   string `json:"mailbox" jsonschema:"The address."`
	ExpiresAt string `json:"expiresAt" jsonschema:"When the mailbox expires, as an RFC 3339 time."`
	Token     string `json:"token,omitempty" jsonschema:"The mailbox's token, for the other tools."`
}

// mailboxResult returns the result for a mailbox, without its token if the process stores tokens.
func (c *call) mailboxResult(m boxInfo) mailboxResult {
	out := mailboxResult{Mailbox: m.Address, ExpiresAt: formatTime(m.ExpiresAt), Token: m.Token}
	if c.tokens != nil {
		out.Token = ""
	}
	return out
}

// createMailbox creates a mailbox. A repeated call with the same clientId returns the same mailbox, since agents retry
// calls whose result was lost. Over stdio the process remembers the mailbox; over HTTP its name is derived from the key
// and the clientId, so that the second call finds the name taken.
func createMailbox(ctx context.Context, c *call, in createArgs) (mailboxResult, error) {
	if out, ok := c.findCreated(ctx, in.ClientID); ok {
		return out, nil
	}
	path, isKey := "/mailboxes", strings.HasPrefix(c.credential, keyPrefix)
	if isKey {
		path = "/keys/mailboxes"
	}
	isDerived := in.Name == "" && in.ClientID != "" && isKey && c.tokens == nil
	if isDerived {
		sum := sha256.Sum256([]byte(c.credential + "\x00" + in.ClientID))
		in.Name = "c-" + hex.EncodeToString(sum[:10])
	}
	body := make(map[string]any)
	if in.Name != "" {
		body["localPart"] = strings.ToLower(in.Name)
	}
	if in.Domain != "" {
		body["domain"] = in.Domain
	}
	if in.TTLSeconds != 0 {
		body["ttl"] = in.TTLSeconds
	}
	credential := c.credential
	if strings.HasPrefix(credential, mailboxPrefix) {
		credential = "" // the token of another mailbox cannot create one
	}
	var m boxInfo
	err := c.do(ctx, http.MethodPost, path, credential, body, &m)
	if isDerived && apiclient.Code(err) == "mailbox.local_part_taken" {
		return c.findByName(ctx, in.Name, err)
	}
	if err != nil {
		return mailboxResult{}, err
	}
	if c.tokens != nil {
		c.tokens.put(m, in.ClientID)
	}
	return c.mailboxResult(m), nil
}

// findCreated returns the mailbox that this process created with a clientId. It returns false if there is none,
// if it is expired or deleted, and if it cannot be read.
func (c *call) findCreated(ctx context.Context, clientID string) (mailboxResult, bool) {
	if c.tokens == nil || clientID == "" {
		return mailboxResult{}, false
	}
	address := c.tokens.addressOf(clientID)
	token := c.tokens.find(address).token
	if token == "" {
		return mailboxResult{}, false
	}
	var m boxInfo
	if err := c.do(ctx, http.MethodGet, "/mailboxes/me", token, nil, &m); err != nil {
		return mailboxResult{}, false
	}
	return c.mailboxResult(m), true
}

// findByName returns the account's mailbox with a name that was derived from a clientId. It returns the error taken if
// the account has no such mailbox.
func (c *call) findByName(ctx context.Context, name string, taken error) (mailboxResult, error) {
	for cursor := ""; ; {
		page, next, err := c.mailboxPage(ctx, cursor)
		if err != nil {
			return mailboxResult{}, err
		}
		for _, m := range page {
			if strings.HasPrefix(m.Address, name+"@") {
				return c.mailboxResult(m), nil
			}
		}
		if next == "" {
			return mailboxResult{}, taken
		}
		cursor = next
	}
}

// extendArgs are the arguments of extend_mailbox.
type extendArgs struct {
	MailboxArgs
	TTLSeconds int `json:"ttlSeconds,omitempty" jsonschema:"Seconds to live from now. By default what the plan says."`
}

// extendMailbox extends a mailbox. The API returns a new token with the new expiry, which replaces the stored one.
func extendMailbox(ctx context.Context, c *call, in extendArgs) (mailboxResult, error) {
	b, err := c.openWithToken(ctx, in.MailboxArgs)
	if err != nil {
		return mailboxResult{}, err
	}
	body := make(map[string]any)
	if in.TTLSeconds != 0 {
		body["ttl"] = in.TTLSeconds
	}
	var m boxInfo
	if err := c.do(ctx, http.MethodPost, "/mailboxes/me/extend", b.credential, body, &m); err != nil {
		return mailboxResult{}, err
	}
	if c.tokens != nil {
		c.tokens.put(m, "")
	}
	return c.mailboxResult(m), nil
}

// deleteResult is the result of delete_mailbox.
type deleteResult struct {
	Mailbox string `json:"mailbox" jsonschema:"The address."`
	Deleted bool   `json:"deleted" jsonschema:"Always true."`
}

// deleteMailbox deletes a mailbox with its messages.
func deleteMailbox(ctx context.Context, c *call, in MailboxArgs) (deleteResult, error) {
	b, err := c.openWithToken(ctx, in)
	if err == nil && in.Mailbox == "" {
		in.Mailbox, err = c.addressOf(ctx, b)
	}
	if err != nil {
		return deleteResult{}, err
	}
	if err := c.do(ctx, http.MethodDelete, "/mailboxes/me", b.credential, nil, nil); err != nil {
		return deleteResult{}, err
	}
	if c.tokens != nil {
		c.tokens.remove(in.Mailbox)
	}
	return deleteResult{Mailbox: strings.ToLower(in.Mailbox), Deleted: true}, nil
}

// noArguments are the arguments of a tool that takes none.
type noArguments struct{}

// boxList is the result of list_mailboxes.
type boxList struct {
	Mailboxes []listedBox `json:"mailboxes" jsonschema:"The mailboxes, newest first."`
	More      bool        `json:"more" jsonschema:"Whether there are more than are listed."`
}

// listedBox is a mailbox in a list.
type listedBox struct {
	mailboxResult
	Messages int `json:"messages" jsonschema:"The number of messages."`
	Unread   int `json:"unread" jsonschema:"The number of messages that were not read."`
}

// listMailboxes lists the newest 100 mailboxes of the account. It needs a developer key or a user token.
func listMailboxes(ctx context.Context, c *call, _ noArguments) (boxList, error) {
	if !strings.HasPrefix(c.credential, keyPrefix) && !strings.HasPrefix(c.credential, userPrefix) {
		return boxList{}, &failure{Code: "auth.required", Message: "This needs a developer key. Ask the user to configure one."}
	}
	page, next, err := c.mailboxPage(ctx, "")
	out := boxList{Mailboxes: []listedBox{}, More: next != ""}
	for _, m := range page {
		out.Mailboxes = append(out.Mailboxes, listedBox{c.mailboxResult(m), m.MessageCount, m.UnreadCount})
	}
	return out, err
}
