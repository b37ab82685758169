package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// addMailboxTools adds the tools that are about mailboxes.
func (t *toolset) addMailboxTools(server *sdk.Server) {
	token := " Keep the token: the other tools take it."
	if t.KeepTokens {
		token = ""
	}
	add(t, server, definition{
		name: "create_mailbox", title: "Create a mailbox",
		description: "Creates a disposable mailbox and returns its address. Give the address to the site that sends the mail." + token,
	}, create)
	add(t, server, definition{
		name: "extend_mailbox", title: "Extend a mailbox",
		description: "Lets a mailbox live longer, counted from now, and returns when it expires.",
	}, extend)
	add(t, server, definition{
		name: "delete_mailbox", title: "Delete a mailbox", destructive: true, idempotent: true,
		description: "Deletes a mailbox with all of its messages. Nothing can be received at its address afterwards.",
	}, remove)
	add(t, server, definition{
		name: "list_mailboxes", title: "List mailboxes", readOnly: true, idempotent: true,
		description: "Lists the live mailboxes of the account, newest first, at most 100. Needs a developer key.",
	}, listMailboxes)
}

// creation is the arguments of create_mailbox. Zero values are left to the API.
type creation struct {
	Name       string `json:"name,omitempty" jsonschema:"The part of the address before the @: lower-case letters, digits, dot, hyphen and underscore. By default two words and a number."`
	Domain     string `json:"domain,omitempty" jsonschema:"The domain of the address. By default the service's first one."`
	TTLSeconds int    `json:"ttlSeconds,omitempty" jsonschema:"Seconds to live. By default what the plan says."`
	ClientID   string `json:"clientId,omitempty" jsonschema:"An identifier of your choice: calling again with the same one returns the same mailbox instead of another one. Needs a developer key over HTTP."`
}

// made is the result of create_mailbox and extend_mailbox.
type made struct {
	Mailbox   string `json:"mailbox" jsonschema:"The address."`
	ExpiresAt string `json:"expiresAt" jsonschema:"When the mailbox expires, as an RFC 3339 time."`
	Token     string `json:"token,omitempty" jsonschema:"The mailbox's token, for the other tools."`
}

// made returns a mailbox as a result, without its token if the process keeps it.
func (c *call) made(m boxInfo) made {
	out := made{Mailbox: m.Address, ExpiresAt: stamp(m.ExpiresAt), Token: m.Token}
	if c.kept != nil {
		out.Token = ""
	}
	return out
}

// create creates a mailbox. A repeated call with the same clientId returns the same mailbox, since agents retry calls
// whose answer was lost: over stdio from kept, over HTTP by a name that is derived from the key and the clientId.
func create(ctx context.Context, c *call, in creation) (made, error) {
	if out, ok := c.madeBefore(ctx, in.ClientID); ok {
		return out, nil
	}
	path, isKey := "/mailboxes", strings.HasPrefix(c.credential, keyPrefix)
	if isKey {
		path = "/keys/mailboxes"
	}
	derived := in.Name == "" && in.ClientID != "" && isKey && c.kept == nil
	if derived {
		sum := sha256.Sum256([]byte(c.credential + "\x00" + in.ClientID))
		in.Name = "c-" + hex.EncodeToString(sum[:10])
	}
	wish := make(map[string]any)
	if in.Name != "" {
		wish["localPart"] = strings.ToLower(in.Name)
	}
	if in.Domain != "" {
		wish["domain"] = in.Domain
	}
	if in.TTLSeconds != 0 {
		wish["ttl"] = in.TTLSeconds
	}
	credential := c.credential
	if strings.HasPrefix(credential, mailboxPrefix) {
		credential = "" // of another mailbox
	}
	var m boxInfo
	err := c.do(ctx, http.MethodPost, path, credential, wish, &m)
	if f, ok := err.(*failure); ok && derived && f.Code == "mailbox.local_part_taken" { // do returns it as it is
		return c.derived(ctx, in.Name, f)
	}
	if err != nil {
		return made{}, err
	}
	if c.kept != nil {
		c.kept.put(m.Address, m.Token, in.ClientID)
	}
	return c.made(m), nil
}

// madeBefore returns the live mailbox that this process created with a clientId, if there is one.
func (c *call) madeBefore(ctx context.Context, client string) (made, bool) {
	if c.kept == nil || client == "" {
		return made{}, false
	}
	address := c.kept.made(client)
	token := c.kept.token(address)
	if token == "" {
		return made{}, false
	}
	var m boxInfo
	if err := c.do(ctx, http.MethodGet, "/mailboxes/me", token, nil, &m); err != nil {
		return made{}, false
	}
	return c.made(m), true
}

// derived returns the account's mailbox with a name that was derived from a clientId. Error:
// taken, if the account has no such mailbox.
func (c *call) derived(ctx context.Context, name string, taken *failure) (made, error) {
	for cursor := ""; ; {
		page, next, err := c.mailboxes(ctx, cursor)
		if err != nil {
			return made{}, err
		}
		for _, m := range page {
			if strings.HasPrefix(m.Address, name+"@") {
				return c.made(m), nil
			}
		}
		if next == "" {
			return made{}, taken
		}
		cursor = next
	}
}

// extension is the arguments of extend_mailbox.
type extension struct {
	Named
	TTLSeconds int `json:"ttlSeconds,omitempty" jsonschema:"Seconds to live from now. By default what the plan says."`
}

// extend extends a mailbox. The API returns a new token with the new expiry, which replaces the kept one.
func extend(ctx context.Context, c *call, in extension) (made, error) {
	b, err := c.named(ctx, in.Named)
	if err != nil {
		return made{}, err
	}
	wish := make(map[string]any)
	if in.TTLSeconds != 0 {
		wish["ttl"] = in.TTLSeconds
	}
	var m boxInfo
	if err := c.do(ctx, http.MethodPost, "/mailboxes/me/extend", b.credential, wish, &m); err != nil {
		return made{}, err
	}
	if c.kept != nil {
		c.kept.put(m.Address, m.Token, "")
	}
	return c.made(m), nil
}

// deleted is the result of delete_mailbox.
type deleted struct {
	Mailbox string `json:"mailbox" jsonschema:"The address."`
	Deleted bool   `json:"deleted" jsonschema:"Always true."`
}

// remove deletes a mailbox with its messages.
func remove(ctx context.Context, c *call, in Named) (deleted, error) {
	b, err := c.named(ctx, in)
	if err != nil {
		return deleted{}, err
	}
	if err := c.do(ctx, http.MethodDelete, "/mailboxes/me", b.credential, nil, nil); err != nil {
		return deleted{}, err
	}
	if c.kept != nil {
		c.kept.remove(in.Mailbox)
	}
	return deleted{Mailbox: strings.ToLower(in.Mailbox), Deleted: true}, nil
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
	made
	Messages int `json:"messages" jsonschema:"The number of messages."`
	Unread   int `json:"unread" jsonschema:"The number of messages that were not read."`
}

// listMailboxes lists the newest 100 mailboxes of the account. It needs a developer key or a user token.
func listMailboxes(ctx context.Context, c *call, _ noArguments) (boxList, error) {
	if !strings.HasPrefix(c.credential, keyPrefix) && !strings.HasPrefix(c.credential, userPrefix) {
		return boxList{}, &failure{Code: "auth.required", Message: "This needs a developer key. Ask the user to configure one."}
	}
	page, next, err := c.mailboxes(ctx, "")
	out := boxList{Mailboxes: []listedBox{}, More: next != ""}
	for _, m := range page {
		out.Mailboxes = append(out.Mailboxes, listedBox{c.made(m), m.MessageCount, m.UnreadCount})
	}
	return out, err
}
