package ratelimit

// Name names a limit. Counts of different names are independent, and clients read the name in the RateLimit fields, so
// a name never changes.
type Name string

// Every limit of the service (docs/spec/limits.md#rate-limits). Each says in the specification what it is counted for:
// the caller of Take or Acquire chooses that identity.
const (
	MailboxCreate    Name = "mailbox_create"
	KeyMailboxCreate Name = "keys_mailbox_create"
	SignIn           Name = "signin"
	SignInAccount    Name = "signin_account"
	SignInAddress    Name = "signin_address"
	Register         Name = "register"
	SessionStart     Name = "session"
	Reads            Name = "reads"
	Inject           Name = "inject"
	Release          Name = "release"
	LongPolls        Name = "long_polls"
	MailTM           Name = "mailtm"
	KeyCalls         Name = "keys_calls"
	Other            Name = "other"
	SMTPConnections  Name = "smtp_connections"
	SMTPMessages     Name = "smtp_messages"
	SMTPRefused      Name = "smtp_refused" // counted by package smtpd, since it matters only as a share of all recipients

	// StaffMail counts the recipients of a client whose mail is for staff. It is not configurable (docs/spec/smtp.md#postmaster).
	StaffMail Name = "staff_mail"
	// ProjectOpen counts the projects that a client opens by signing in, which profile: dev permits. It is not configurable
	// (docs/spec/projects.md#profile-dev).
	ProjectOpen Name = "project_open"
	// TwoFactor counts the wrong codes of an account. It is not configurable (docs/spec/accounts.md#two-factor-authentication).
	TwoFactor Name = "two_factor"
	// AccountMail counts the mails to an address that confirm it or set a password. It is not configurable (docs/spec/accounts.md#mails).
	AccountMail Name = "account_mail"
)
