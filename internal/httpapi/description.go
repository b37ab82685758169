package httpapi

import "github.com/danielgtaylor/huma/v2"

const introduction = `Disposable mailboxes over HTTP: create one, have mail sent to it, read it, or wait for the one-time code in it.

Every answer is wrapped in ` + "`data`" + `; lists add ` + "`nextCursor`" + `. Times are RFC 3339 in UTC, durations whole seconds.
Errors are ` + "`application/problem+json`" + ` (RFC 9457): branch on ` + "`code`" + `, quote ` + "`traceId`" + ` when you ask for help.`

// verifying is docs/webhooks.md in two sentences, for who reads the API's description alone.
const verifying = ` Deliveries are signed by the Standard Webhooks scheme: compare ` + "`webhook-signature`" + ` with ` + "`v1,`" + ` and the base64 of
an HMAC-SHA256 over ` + "`webhook-id.webhook-timestamp.body`" + `, by the key that is base64 behind ` + "`whsec_`" + `, and refuse a time more than five minutes away.
The same ` + "`webhook-id`" + ` may come twice. The page docs/webhooks.md beside the source has receivers in Go, TypeScript and Python.`

func tags() []*huma.Tag {
	return []*huma.Tag{
		{Name: "account", Description: "The account of a user token: its settings and two-factor."},
		{Name: "auth", Description: "Making an account, signing in and out."},
		{Name: "billing", Description: "Plans, subscriptions, points, and how to pay for them."},
		{Name: "content", Description: "Notices and pages that staff publish for everybody."},
		{Name: "domains", Description: "Domains of one's own: every address on a verified one is a mailbox."},
		{Name: "filters", Description: "Extraction filters of an account, which find codes that the built-in extractor does not."},
		{Name: "integrations", Description: "Calls of other services, not of clients."},
		{Name: "keys", Description: "Developer keys of an account, and the mailboxes they open."},
		{Name: "mailboxes", Description: "Disposable mailboxes. Creating one gives the token that opens it."},
		{Name: "messages", Description: "The mail in a mailbox."},
		{Name: "otp", Description: "The one-time code in the newest mail that has one."},
		{Name: "session", Description: "Finding a browser's mailboxes again, without an account."},
		{Name: "system", Description: "Probes."},
		{Name: "webhooks", Description: "Endpoints of an account that are told what happens, and how telling them went." + verifying},
	}
}

// schemaNames has the names of types in the document whose Go name needs its package to be understood.
func schemaNames() map[string]string {
	return map[string]string{
		"Summary": "MessageSummary", "Header": "MessageHeader", "Envelope": "MessageEnvelope", "Address": "MailAddress",
		"Authentication": "MessageAuthentication", "Checks": "ReadinessChecks", "MailboxWish": "MailboxCreation", "Extension": "MailboxExtension",
	}
}
