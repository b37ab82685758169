package problem

import (
	"net/http"
	"slices"
)

// Code identifies a kind of problem. Clients branch on codes, so no code is ever renamed
// (docs/spec/conventions.md#errors). A new code needs a line in table and must be listed by each API operation that can
// return it.
type Code string

// The codes of the service. The table below has the status and the title of each; docs/errors.md is generated from it.
const (
	RequestInvalid       Code = "request.invalid"
	RequestTooLarge      Code = "request.too_large"
	RequestMediaType     Code = "request.media_type"
	RouteNotFound        Code = "route.not_found"
	RouteMethod          Code = "route.method_not_allowed"
	RateLimited          Code = "rate.limited"
	IdempotencyKeyReused Code = "idempotency.key_reused"
	ServerInternal       Code = "server.internal"
	ServerUnavailable    Code = "server.unavailable"

	AuthRequired           Code = "auth.required"
	AuthInvalidToken       Code = "auth.invalid_token"
	AuthInvalidCredentials Code = "auth.invalid_credentials"
	AuthTOTPRequired       Code = "auth.totp_required"
	AuthScopeMissing       Code = "auth.scope_missing"
	AuthAddressNotAllowed  Code = "auth.address_not_allowed"
	AuthRoleMissing        Code = "auth.role_missing"
	AuthTwoFactorMissing   Code = "auth.two_factor_missing"
	AccessClosed           Code = "access.closed"
	AccessClientNotAllowed Code = "access.client_not_allowed"
	AccessHostNotAllowed   Code = "access.host_not_allowed"
	AccessOriginNotAllowed Code = "access.origin_not_allowed"

	MailboxLocalPartTaken    Code = "mailbox.local_part_taken"
	MailboxLocalPartReserved Code = "mailbox.local_part_reserved"
	MailboxDomainUnavailable Code = "mailbox.domain_unavailable"
	MailboxTTLTooLong        Code = "mailbox.ttl_too_long"
	MailboxLifetimeExceeded  Code = "mailbox.lifetime_exceeded"
	MailboxLimitReached      Code = "mailbox.limit_reached"
	MailboxExpired           Code = "mailbox.expired"
	MailboxNotFound          Code = "mailbox.not_found"
	MailboxFull              Code = "mailbox.full"
	InjectDisabled           Code = "inject.disabled"

	IngressNotFound Code = "ingress.not_found"
	IngressRefused  Code = "ingress.refused"

	MessageNotFound       Code = "message.not_found"
	MessageRawExpired     Code = "message.raw_expired"
	AttachmentNotFound    Code = "attachment.not_found"
	AttachmentNotRetained Code = "attachment.not_retained"
	OTPNotFound           Code = "otp.not_found"

	AccountEmailTaken Code = "account.email_taken"
	AccountNotFound   Code = "account.not_found"
	TOTPAlreadyActive Code = "totp.already_active"
	TOTPNotPending    Code = "totp.not_pending"
	TOTPInvalidCode   Code = "totp.invalid_code"

	AccountPasswordWrong Code = "account.password_wrong"
	AccountCodeInvalid   Code = "account.code_invalid"
	AccountUnconfirmed   Code = "account.unconfirmed"
	SessionNotFound      Code = "session.not_found"
	OIDCMissing          Code = "oidc.missing"
	OIDCFailed           Code = "oidc.failed"
	OIDCNotAllowed       Code = "oidc.not_allowed"
	OIDCEmailUnverified  Code = "oidc.email_unverified"
	OIDCUnavailable      Code = "oidc.unavailable"
	RelayMissing         Code = "relay.missing"
	RelayNotAllowed      Code = "relay.not_allowed"

	DomainNotFound           Code = "domain.not_found"
	DomainNotAllowed         Code = "domain.not_allowed"
	DomainTaken              Code = "domain.taken"
	DomainLimitReached       Code = "domain.limit_reached"
	DomainInUse              Code = "domain.in_use"
	DomainConfigured         Code = "domain.configured"
	DomainVerificationFailed Code = "domain.verification_failed"

	FaultNotFound     Code = "fault.not_found"
	FaultLimitReached Code = "fault.limit_reached"

	TranscriptNotFound Code = "transcript.not_found"

	FilterNotFound     Code = "filter.not_found"
	FilterInvalidRegex Code = "filter.invalid_regex"
	FilterLimitReached Code = "filter.limit_reached"

	KeyNotFound     Code = "key.not_found"
	KeyLimitReached Code = "key.limit_reached"

	ProjectNotFound     Code = "project.not_found"
	ProjectNameTaken    Code = "project.name_taken"
	ProjectLimitReached Code = "project.limit_reached"
	ProjectOwnerOnly    Code = "project.owner_only"
	ProjectDisabled     Code = "project.disabled"

	WebhookNotFound         Code = "webhook.not_found"
	WebhookURLForbidden     Code = "webhook.url_forbidden"
	WebhookLimitReached     Code = "webhook.limit_reached"
	WebhookDeliveryNotFound Code = "webhook.delivery_not_found"

	PlanUnknown                Code = "plan.unknown"
	WalletInsufficientPoints   Code = "wallet.insufficient_points"
	TopupAmountInvalid         Code = "topup.amount_invalid"
	TopupLimitReached          Code = "topup.limit_reached"
	PaymentProviderUnavailable Code = "payment.provider_unavailable"
	PaymentNotFound            Code = "payment.not_found"
	PaymentNotResolvable       Code = "payment.not_resolvable"
	OrderNotFound              Code = "order.not_found"
	BlockNotFound              Code = "block.not_found"
	BlockLimitReached          Code = "block.limit_reached"
	NoticeNotFound             Code = "notice.not_found"
	PageNotFound               Code = "page.not_found"

	// Problems that only sending mail servers get, as SMTP replies (docs/spec/smtp.md#replies).
	MailMailboxUnknown    Code = "mail.mailbox_unknown"
	MailDomainNotServed   Code = "mail.domain_not_served"
	MailDomainSuspended   Code = "mail.domain_suspended"
	MailAccountDisabled   Code = "mail.account_disabled"
	MailDailyCap          Code = "mail.daily_cap"
	MailMailboxFull       Code = "mail.mailbox_full"
	MailTooLarge          Code = "mail.too_large"
	MailTooManyRecipients Code = "mail.too_many_recipients"
	MailMalformed         Code = "mail.malformed"
	MailStorageFull       Code = "mail.storage_full"
	MailAddressSyntax     Code = "mail.address_syntax"
)

// entry is the HTTP status and the title of a code. Every problem with the code has them.
type entry struct {
	status int
	title  string
}

// table has the status and the title of every code. A code that is missing here would be sent with status 500. SMTP does
// not use the statuses: smtpd maps the codes to replies. Codes that only SMTP uses have the status that HTTP would use.
var table = map[Code]entry{
	RequestInvalid:       {http.StatusUnprocessableEntity, "The request does not match its schema"},
	RequestTooLarge:      {http.StatusRequestEntityTooLarge, "The request body is too large"},
	RequestMediaType:     {http.StatusUnsupportedMediaType, "The request body is not JSON"},
	RouteNotFound:        {http.StatusNotFound, "There is nothing at this path"},
	RouteMethod:          {http.StatusMethodNotAllowed, "This path does not take that method"},
	RateLimited:          {http.StatusTooManyRequests, "Too many requests"},
	IdempotencyKeyReused: {http.StatusUnprocessableEntity, "The idempotency key was used with another body"},
	ServerInternal:       {http.StatusInternalServerError, "Something went wrong on our side"},
	ServerUnavailable:    {http.StatusServiceUnavailable, "The service is not available right now"},

	AuthRequired:           {http.StatusUnauthorized, "A credential is required"},
	AuthInvalidToken:       {http.StatusUnauthorized, "The credential is not valid"},
	AuthInvalidCredentials: {http.StatusUnauthorized, "The sign-in failed"},
	AuthTOTPRequired:       {http.StatusUnauthorized, "A two-factor code is required"},
	AuthScopeMissing:       {http.StatusForbidden, "The key lacks the scope"},
	AuthAddressNotAllowed:  {http.StatusForbidden, "The key may not be used from this address"},
	AuthRoleMissing:        {http.StatusForbidden, "The account does not have the role"},
	AuthTwoFactorMissing:   {http.StatusForbidden, "The account must use two-factor authentication"},
	AccessClosed:           {http.StatusForbidden, "This service is not open to everyone"},
	AccessClientNotAllowed: {http.StatusForbidden, "Only clients on loopback and private networks are served"},
	AccessHostNotAllowed:   {http.StatusForbidden, "The service may not be called by this name"},
	AccessOriginNotAllowed: {http.StatusForbidden, "Web pages of this origin may not call the service"},

	MailboxLocalPartTaken:    {http.StatusConflict, "The local part is taken"},
	MailboxLocalPartReserved: {http.StatusUnprocessableEntity, "The local part is reserved"},
	MailboxDomainUnavailable: {http.StatusUnprocessableEntity, "The domain is not available"},
	MailboxTTLTooLong:        {http.StatusUnprocessableEntity, "The ttl is above the plan's maximum"},
	MailboxLifetimeExceeded:  {http.StatusForbidden, "The mailbox cannot live that long"},
	MailboxLimitReached:      {http.StatusUnprocessableEntity, "No more live mailboxes are allowed"},
	MailboxExpired:           {http.StatusGone, "The mailbox has expired"},
	MailboxNotFound:          {http.StatusNotFound, "There is no such mailbox"},
	MailboxFull:              {http.StatusConflict, "The mailbox is full"},
	InjectDisabled:           {http.StatusForbidden, "This service does not take messages over the API"},

	IngressNotFound: {http.StatusNotFound, "There is no such ingress"},
	IngressRefused:  {http.StatusNotAcceptable, "The mail is refused"},

	MessageNotFound:       {http.StatusNotFound, "There is no such message"},
	MessageRawExpired:     {http.StatusGone, "The raw message is no longer kept"},
	AttachmentNotFound:    {http.StatusNotFound, "There is no such attachment"},
	AttachmentNotRetained: {http.StatusNotFound, "The attachment was too large to be kept"},
	OTPNotFound:           {http.StatusNotFound, "No code has arrived"},

	AccountNotFound:   {http.StatusNotFound, "There is no such account"},
	AccountEmailTaken: {http.StatusConflict, "The e-mail address is taken"},
	TOTPAlreadyActive: {http.StatusConflict, "Two-factor is active already"},
	TOTPNotPending:    {http.StatusUnprocessableEntity, "No two-factor enrolment is pending"},
	TOTPInvalidCode:   {http.StatusUnprocessableEntity, "The two-factor code is not valid"},

	AccountPasswordWrong: {http.StatusUnprocessableEntity, "The password is wrong"},
	AccountCodeInvalid:   {http.StatusUnprocessableEntity, "The code or link is wrong, used or expired"},
	AccountUnconfirmed:   {http.StatusForbidden, "The e-mail address is not confirmed yet"},
	SessionNotFound:      {http.StatusNotFound, "There is no such session"},
	OIDCMissing:          {http.StatusForbidden, "This service has no sign-in with an issuer"},
	OIDCFailed:           {http.StatusBadRequest, "The sign-in with the issuer failed"},
	OIDCNotAllowed:       {http.StatusForbidden, "The user of the issuer may not sign in here"},
	OIDCEmailUnverified:  {http.StatusForbidden, "The issuer has not verified an e-mail address of the user"},
	OIDCUnavailable:      {http.StatusServiceUnavailable, "The issuer does not answer"},
	RelayMissing:         {http.StatusForbidden, "This service does not send mail"},
	RelayNotAllowed:      {http.StatusForbidden, "The message may not be sent there"},

	DomainNotFound:           {http.StatusNotFound, "There is no such domain"},
	DomainNotAllowed:         {http.StatusUnprocessableEntity, "The domain cannot be added"},
	DomainTaken:              {http.StatusConflict, "The domain is taken"},
	DomainLimitReached:       {http.StatusForbidden, "No more domains are allowed"},
	DomainInUse:              {http.StatusConflict, "The domain has live mailboxes"},
	DomainConfigured:         {http.StatusConflict, "The domain stands in the configuration"},
	DomainVerificationFailed: {http.StatusUnprocessableEntity, "The domain's records do not prove it"},

	FaultNotFound:      {http.StatusNotFound, "There is no such fault rule"},
	FaultLimitReached:  {http.StatusConflict, "No more fault rules are allowed"},
	TranscriptNotFound: {http.StatusNotFound, "There is no transcript of this message's SMTP dialog"},

	FilterNotFound:     {http.StatusNotFound, "There is no such filter"},
	FilterInvalidRegex: {http.StatusUnprocessableEntity, "The regular expression is not valid"},
	FilterLimitReached: {http.StatusUnprocessableEntity, "No more filters are allowed"},

	KeyNotFound:     {http.StatusNotFound, "There is no such key"},
	KeyLimitReached: {http.StatusForbidden, "No more keys are allowed"},

	ProjectNotFound:     {http.StatusNotFound, "There is no such project"},
	ProjectNameTaken:    {http.StatusConflict, "The project's name is taken"},
	ProjectLimitReached: {http.StatusForbidden, "No more projects are allowed"},
	ProjectOwnerOnly:    {http.StatusForbidden, "Only an owner may change the project"},
	ProjectDisabled:     {http.StatusForbidden, "This service has no projects"},

	WebhookNotFound:         {http.StatusNotFound, "There is no such webhook"},
	WebhookURLForbidden:     {http.StatusUnprocessableEntity, "The webhook URL is not allowed"},
	WebhookLimitReached:     {http.StatusForbidden, "No more webhooks are allowed"},
	WebhookDeliveryNotFound: {http.StatusNotFound, "There is no such delivery"},

	PlanUnknown:                {http.StatusUnprocessableEntity, "There is no such plan to buy"},
	WalletInsufficientPoints:   {http.StatusPaymentRequired, "There are not enough points"},
	TopupAmountInvalid:         {http.StatusUnprocessableEntity, "The amount cannot be topped up"},
	TopupLimitReached:          {http.StatusUnprocessableEntity, "No more top-ups are allowed while so many are unpaid"},
	PaymentProviderUnavailable: {http.StatusBadRequest, "The payment provider is not available"},
	PaymentNotFound:            {http.StatusNotFound, "There is no such bank transaction"},
	PaymentNotResolvable:       {http.StatusConflict, "The bank transaction cannot be settled so"},
	OrderNotFound:              {http.StatusNotFound, "There is no such order"},
	BlockNotFound:              {http.StatusNotFound, "There is no such block"},
	BlockLimitReached:          {http.StatusConflict, "No more blocks are allowed"},
	NoticeNotFound:             {http.StatusNotFound, "There is no such notice"},
	PageNotFound:               {http.StatusNotFound, "There is no such page"},

	MailMailboxUnknown:    {http.StatusNotFound, "There is no such mailbox here"},
	MailDomainNotServed:   {http.StatusNotFound, "This server does not take mail for that domain"},
	MailDomainSuspended:   {http.StatusServiceUnavailable, "The domain is suspended"},
	MailAccountDisabled:   {http.StatusServiceUnavailable, "The mailbox does not take mail at the moment"},
	MailDailyCap:          {http.StatusTooManyRequests, "The mailbox has had its mail for today"},
	MailMailboxFull:       {http.StatusInsufficientStorage, "The mailbox is full"},
	MailTooLarge:          {http.StatusRequestEntityTooLarge, "The message is too large"},
	MailTooManyRecipients: {http.StatusTooManyRequests, "The message has too many recipients"},
	MailMalformed:         {http.StatusUnprocessableEntity, "The message has bare line ends or a NUL"},
	MailStorageFull:       {http.StatusServiceUnavailable, "The disk is full, try again later"},
	MailAddressSyntax:     {http.StatusUnprocessableEntity, "The address is not valid"},
}

// Status returns the code's HTTP status, 500 for a code that is not in the table.
func (c Code) Status() int {
	if e, ok := table[c]; ok {
		return e.status
	}
	return http.StatusInternalServerError
}

// Title returns the code's short text for people. It is "" for a code that is not in the table.
func (c Code) Title() string { return table[c].title }

// Codes returns every code in alphabetical order. The caller may change the slice.
func Codes() []Code {
	codes := make([]Code, 0, len(table))
	for c := range table {
		codes = append(codes, c)
	}
	slices.Sort(codes)
	return codes
}
