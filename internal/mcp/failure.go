package mcp

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/apiclient"
)

// failure is the error of a tool, as its result shows it: a problem code of the API, and a sentence on what to do about
// it. RetryAfter is in seconds; 0 means that the API returned none.
type failure struct {
	Code       string `json:"code"`
	Message    string `json:"message"`
	RetryAfter int    `json:"retryAfterSeconds,omitempty"`
}

// Error returns the code and the message.
func (f *failure) Error() string { return f.Code + ": " + f.Message }

// newFailure returns the failure with a problem code and the advice for it.
func newFailure(code string) *failure { return &failure{Code: code, Message: advice(code)} }

// invalidArguments returns the failure request.invalid. The text must describe the arguments and must not quote a mail.
func invalidArguments(text string) *failure {
	return &failure{Code: "request.invalid", Message: "Correct the arguments: " + text}
}

// failureOf returns the failure for an error of a tool. For an error response of the API it has the code of the problem, the
// advice for it, and the problem's messages about single fields, under the names of the arguments. The problem's detail is
// left out, since it may quote a mail. An error of another kind becomes server.internal, without its text.
func failureOf(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if broken, ok := errors.AsType[*apiclient.ConnectionError](err); ok {
		return &failure{Code: "server.unavailable", Message: "No Gonebox answers at " + broken.URL + ". Check the URL, and whether the service runs."}
	}
	p, ok := errors.AsType[*apiclient.Error](err)
	switch {
	case !ok:
		return newFailure("server.internal")
	case p.Code == "":
		return &failure{Code: "server.unavailable", Message: fmt.Sprintf("What answers at this URL is not the API of Gonebox (status %d). Check the URL.", p.Status)}
	}
	f := newFailure(p.Code)
	if f.Message == "" {
		f.Message = p.Title + "."
	}
	for _, e := range p.Errors {
		f.Message += " " + argumentOf(e.Pointer) + " " + e.Message + "."
	}
	f.RetryAfter = int(p.RetryAfter / time.Second)
	return f
}

// argumentOf returns the name of the argument from which the tools make a field or a query parameter of the API.
// problem.Field describes its pointer.
func argumentOf(pointer string) string {
	switch name := strings.TrimLeft(pointer, "/?"); name {
	case "localPart":
		return "name"
	case "ttl":
		return "ttlSeconds"
	case "wait":
		return "seconds"
	default:
		return name
	}
}

// tooLarge returns the failure of a response of n octets that is larger than the most that this service can return.
func tooLarge(n int, most int64) *failure {
	return &failure{Code: "response.too_large", Message: fmt.Sprintf(
		"It has %d octets, and this service can return at most %d to a tool. Trying again does not help: ask the user to download it.", n, most)}
}

// advice returns what to do about a problem (docs/agents.md#failures), in sentences for a model: what happened, and the
// next step. It returns "" for a code that no call of a tool causes.
func advice(code string) string {
	switch code {
	case "request.invalid":
		return "Correct the arguments."
	case "auth.required":
		return "This needs a credential: pass the token that create_mailbox returned, or configure a developer key."
	case "auth.invalid_token":
		return "The token or key is not valid, or the mailbox was deleted. Create another mailbox with create_mailbox, or ask the user for another key."
	case "auth.scope_missing":
		return "The developer key lacks a scope for this. Ask the user for a key with mailboxes:read, mailboxes:write, messages:read and otp:read."
	case "auth.address_not_allowed":
		return "The developer key may not be used from this address. Ask the user to allow it."
	case "access.closed":
		return "This service is not open to everyone. Ask the user for a developer key."
	case "mailbox.not_found":
		return "There is no such mailbox, or this session did not create it. Use an address that create_mailbox or list_mailboxes returned."
	case "mailbox.expired":
		return "The mailbox has expired. Create another one with create_mailbox."
	case "mailbox.local_part_taken":
		return "The name is taken. Choose another one, or leave it out."
	case "mailbox.local_part_reserved":
		return "The name is reserved. Choose another one, or leave it out."
	case "mailbox.domain_unavailable":
		return "The domain is not available. Leave it out to use the default one."
	case "mailbox.ttl_too_long":
		return "Mailboxes cannot live that long here. Ask for less, or leave ttlSeconds out."
	case "mailbox.lifetime_exceeded":
		return "The mailbox cannot live that long. Create another one with create_mailbox."
	case "mailbox.limit_reached":
		return "There are as many mailboxes as the plan allows. Delete one with delete_mailbox."
	case "mailbox.full":
		return "The mailbox is full. Create another one with create_mailbox."
	}
	return messageAdvice(code)
}

// messageAdvice is the part of advice about messages and the service.
func messageAdvice(code string) string {
	switch code {
	case "mail.daily_cap":
		return "The mailbox had its mail for today. Create another one, or wait until tomorrow."
	case "message.not_found":
		return "There is no such message in this mailbox. Use an identifier that list_messages or a wait returned."
	case "attachment.not_found":
		return "There is no such attachment. Use an identifier that read_message returned."
	case "attachment.not_retained":
		return "The attachment was too large to be kept. Nothing can be done about it."
	case "inject.disabled":
		return "This service does not take test messages. Send a real mail to the address."
	case "rate.limited":
		return "Too many calls. Wait for retryAfterSeconds, then try again."
	case "server.unavailable":
		return "The service is not available right now. Try again in a few seconds."
	case "server.internal":
		return "Something went wrong in the service. Try again; if it fails again, tell the user."
	}
	return ""
}

// itoa returns a number in decimal.
func itoa(n int) string { return strconv.Itoa(n) }
