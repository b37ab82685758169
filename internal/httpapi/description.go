package httpapi

import "github.com/danielgtaylor/huma/v2"

const introduction = `Disposable mailboxes over HTTP: create one, receive mail in it, read the mail, or wait for the one-time code in it.

Every response is wrapped in ` + "`data`" + `; lists add ` + "`nextCursor`" + `. Times are RFC 3339 in UTC, durations whole seconds.
Errors are ` + "`application/problem+json`" + ` (RFC 9457): branch on ` + "`code`" + `, quote ` + "`traceId`" + ` when you ask for help.`

// verifying summarizes docs/webhooks.md for readers of the OpenAPI document.
const verifying = ` Deliveries are signed by the Standard Webhooks scheme: compare ` + "`webhook-signature`" + ` with ` + "`v1,`" + ` and the base64 of
an HMAC-SHA256 over ` + "`webhook-id.webhook-timestamp.body`" + `, with the key that follows ` + "`whsec_`" + ` in base64, and reject a timestamp more than five minutes away.
The same ` + "`webhook-id`" + ` may arrive twice. docs/webhooks.md in the source has receivers in Go, TypeScript and Python.`

func tags() []*huma.Tag {
	return []*huma.Tag{
		{Name: "mailboxes", Description: "Disposable mailboxes. Creating one gives the token that opens it."},
		{Name: "messages", Description: "The mail in a mailbox, and in all mailboxes of an account."},
		{Name: "otp", Description: "The one-time code in the newest mail that has one."},
		{Name: "session", Description: "Finding a browser's mailboxes again, without an account."},
		{Name: "account", Description: "The account of a user token: its settings and two-factor."},
		{Name: "auth", Description: "Creating an account, signing in and out."},
		{Name: "billing", Description: "Plans, subscriptions, points, and how to pay for them."},
		{Name: "content", Description: "Notices and pages that staff publish."},
		{Name: "domains", Description: "Private domains: every address on a verified one is a mailbox."},
		{Name: "faults", Description: "Rules by which the SMTP server fails on purpose, for tests of applications, and transcripts of its dialogs."},
		{Name: "filters", Description: "Extraction filters of an account, which find codes that the built-in extractor does not."},
		{Name: "integrations", Description: "Callbacks of other services, not for clients."},
		{Name: "keys", Description: "Developer keys of an account, and the mailboxes they open."},
		{Name: "projects", Description: "Projects: mailboxes that take mail for any address from applications that sign in."},
		{Name: "staff", Description: "What the operator's commands do, for user tokens of accounts with the role staff."},
		{Name: "system", Description: "Probes."},
		{Name: "webhooks", Description: "Endpoints that receive an account's events, and the delivery attempts." + verifying},
	}
}

// schemaNames returns the names in the document of types whose Go name is unclear without its package.
func schemaNames() map[string]string {
	return map[string]string{
		"Summary": "MessageSummary", "Header": "MessageHeader", "Envelope": "MessageEnvelope", "Address": "MailAddress",
		"Authentication": "MessageAuthentication", "Checks": "ReadinessChecks", "Report": "MessageChecks", "Warning": "MessageWarning", "Extension": "MailboxExtension",
		"AttachmentInjection": "MessageInjectionAttachment",
	}
}
