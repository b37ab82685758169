package ratelimit

// Name names a limit: it is part of what is counted together, and clients read it in the RateLimit fields.
type Name string

// Every limit of the service (decisions §5). Rules says what each is.
const (
	MailboxCreate    Name = "mailbox_create"
	KeyMailboxCreate Name = "keys_mailbox_create"
	SignIn           Name = "signin"
	SignInAccount    Name = "signin_account"
	SignInAddress    Name = "signin_address"
	Register         Name = "register"
	SessionStart     Name = "session"
	Reads            Name = "reads"
	LongPolls        Name = "long_polls"
	KeyCalls         Name = "keys_calls"
	Other            Name = "other"
	SMTPConnections  Name = "smtp_connections"
	SMTPMessages     Name = "smtp_messages"
	SMTPRefused      Name = "smtp_refused" // package smtpd counts it, since it matters only as a part of all recipients

	// TwoFactor counts the wrong codes of an account; it is no setting (docs/spec/accounts.md#two-factor-authentication).
	TwoFactor Name = "two_factor"
)

// Rule describes one configurable limit. The documentation and the defaults of the configuration come from it.
type Rule struct {
	Name     Name
	What     string // what is counted
	Identity string // whose it is
	Default  string // a text for ParseLimit; if AtOnce, a number
	Key      string // the configuration key
	AtOnce   bool   // a Gauge counts it, not a Limiter
}

// Rules lists every limit, in the order of decisions §5; a limit that follows the plan has a row for each plan.
func Rules() []Rule {
	const addr = "IP (IPv6: /64)" // AddrIdentity
	return []Rule{
		{Name: MailboxCreate, What: "mailbox creation, public and guest", Identity: addr, Default: "30/1m, 300/24h", Key: "limits.mailbox_create"},
		{Name: KeyMailboxCreate, What: "mailbox creation by key", Identity: "key", Default: "60/1m", Key: "plans.free.keys.mailbox_create"},
		{Name: KeyMailboxCreate, What: "mailbox creation by key", Identity: "key", Default: "600/1m", Key: "plans.plus.keys.mailbox_create"},
		{Name: KeyMailboxCreate, What: "mailbox creation by key", Identity: "key", Default: "6000/1m", Key: "plans.pro.keys.mailbox_create"},
		{Name: SignIn, What: "sign-in", Identity: "account + " + addr, Default: "10/5m", Key: "limits.signin"},
		{Name: SignInAccount, What: "sign-in", Identity: "account", Default: "50/5m", Key: "limits.signin_account"},
		{Name: SignInAddress, What: "sign-in and registration, before the password is hashed", Identity: addr, Default: "60/5m", Key: "limits.signin_address"},
		{Name: Register, What: "registration", Identity: addr, Default: "10/1h", Key: "limits.register"},
		{Name: SessionStart, What: "session start", Identity: addr, Default: "30/1m", Key: "limits.session"},
		{Name: Reads, What: "reads with a mailbox token", Identity: addr, Default: "300/1m", Key: "limits.reads"},
		{Name: LongPolls, What: "open long-polls", Identity: addr, Default: "100", Key: "limits.long_polls", AtOnce: true},
		{Name: KeyCalls, What: "key calls", Identity: "key", Default: "120/1m", Key: "plans.free.keys.calls"},
		{Name: KeyCalls, What: "key calls", Identity: "key", Default: "1200/1m", Key: "plans.plus.keys.calls"},
		{Name: KeyCalls, What: "key calls", Identity: "key", Default: "12000/1m", Key: "plans.pro.keys.calls"},
		{Name: Other, What: "other calls", Identity: "credential, else " + addr, Default: "300/1m", Key: "limits.other"},
		{Name: SMTPConnections, What: "SMTP connections", Identity: addr, Default: "100", Key: "limits.smtp_connections", AtOnce: true},
		{Name: SMTPMessages, What: "SMTP messages", Identity: addr, Default: "1000/1m", Key: "limits.smtp_messages"},
		{Name: SMTPRefused, What: "refused recipients", Identity: addr, Default: "200/1m", Key: "limits.smtp_refused"},
	}
}
