package config

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/gonebox/gonebox/internal/ratelimit"
)

// Log is the section log.
type Log struct {
	Level  slog.Level `key:"level" default:"info" help:"the least level that is logged: debug, info, warn or error"`
	Format string     `key:"format" default:"text" oneof:"text json" help:"form of a log line"`
}

// HTTP is the section http.
type HTTP struct {
	Addr              string         `key:"addr" default:":8080" help:"address to listen on, host:port"`
	TrustedProxies    []netip.Prefix `key:"trusted_proxies" default:"" help:"networks (CIDR) of the proxies whose X-Forwarded-For is believed; all addresses would let every client choose its own, and are warned of at the start"`
	BodyMax           Size           `key:"body_max" default:"16KiB" help:"largest request body"`
	LargeBodyMax      Size           `key:"large_body_max" default:"1MiB" help:"largest request body of a filter trial and of the bank's callback"`
	HeaderMax         Size           `key:"header_max" default:"64KiB" help:"largest request header"`
	ReadHeaderTimeout time.Duration  `key:"read_header_timeout" default:"10s" help:"time for a client to send the header of a request"`
	ReadTimeout       time.Duration  `key:"read_timeout" default:"30s" help:"time for a client to send a whole request"`
	WriteTimeout      time.Duration  `key:"write_timeout" default:"30s" help:"time to answer a request, or for a client to take 64KiB of a raw message; a long-poll has its wait on top"`
	IdleTimeout       time.Duration  `key:"idle_timeout" default:"2m" help:"how long an idle connection is kept"`
}

// API is the section api.
type API struct {
	WaitMax         time.Duration `key:"wait_max" default:"60s" help:"longest long-poll (the query wait)"`
	PageDefault     int           `key:"page_default" default:"50" help:"entries of a page when the query has no limit"`
	PageMax         int           `key:"page_max" default:"100" help:"most entries of a page"`
	IdempotencyKeep time.Duration `key:"idempotency_keep" default:"24h" help:"how long an Idempotency-Key and its answer are remembered"`
}

// SMTP is the section smtp.
type SMTP struct {
	Addr           string         `key:"addr" default:":2525" help:"address to listen on, host:port"`
	Hostname       string         `key:"hostname" default:"mx.gonebox.localhost" help:"this server's name: in the greeting, and what the MX record of a private domain must name"`
	MaxSize        Size           `key:"max_size" default:"25MiB" help:"largest message (SIZE of RFC 1870)"`
	MaxRecipients  int            `key:"max_recipients" default:"100" help:"most recipients of a message"`
	MaxCommands    int            `key:"max_commands" default:"1000" help:"most commands of a session without a message being taken"`
	MaxErrors      int            `key:"max_errors" default:"100" help:"most refused commands of a session without a message being taken"`
	SetMax         int            `key:"set_max" default:"512" help:"most mails that share a transaction and a sync; 1: each has a plain one of its own, which is slower and there to be compared with"`
	TrustedProxies []netip.Prefix `key:"trusted_proxies" default:"" help:"networks (CIDR) of the load balancers that speak the PROXY protocol to smtp.addr; they must, and nobody else may; all addresses would let every sender choose its own, and are warned of at the start"`
	CommandTimeout time.Duration  `key:"command_timeout" default:"5m" help:"longest wait for a command (RFC 5321 §4.5.3.2.7)"`
	DataTimeout    time.Duration  `key:"data_timeout" default:"3m" help:"longest pause within a message (RFC 5321 §4.5.3.2.5)"`
	WriteTimeout   time.Duration  `key:"write_timeout" default:"2m" help:"longest wait for a client to take a reply"`
	SessionTimeout time.Duration  `key:"session_timeout" default:"1h" help:"longest a connection may last"`
	MemoryTimeout  time.Duration  `key:"memory_timeout" default:"1m" help:"longest wait of a message for memory (memory.budget); then its sender is to try again"`
	TLS            TLS            `key:"tls" help:"STARTTLS: certificate files, or certificates fetched by ACME, or neither"`
}

// TLS is the section smtp.tls.
type TLS struct {
	Cert string `key:"cert" default:"" help:"PEM file of the certificate chain; read again when it changes"`
	Key  string `key:"key" default:"" help:"PEM file of the certificate's private key"`
	ACME bool   `key:"acme" default:"false" help:"fetch and renew a certificate for smtp.hostname by ACME; http.addr must answer on port 80 of that name"`
	// ACMEDirectory is the authority's; asking it for a certificate accepts its terms.
	ACMEDirectory string `key:"acme_directory" default:"https://acme-v02.api.letsencrypt.org/directory" help:"directory of the ACME authority"`
}

// Database is the section database.
type Database struct {
	URL     Secret        `key:"url" default:"" help:"postgres://user:password@host/name; empty: SQLite in data_dir"`
	Timeout time.Duration `key:"timeout" default:"5s" help:"time for PostgreSQL to answer a statement, 1s to 1m; a server that stays silent is found out within it"`
}

// DNS is the section dns.
type DNS struct {
	Resolver       string        `key:"resolver" default:"" help:"recursive resolver to ask, host:port; empty: the system's"`
	Timeout        time.Duration `key:"timeout" default:"2s" help:"time for one attempt of a question"`
	MailAuthBudget time.Duration `key:"mail_auth_budget" default:"3s" help:"time for SPF, DKIM and DMARC of one message together"`
}

// Metrics is the section metrics.
type Metrics struct {
	Addr string `key:"addr" default:"" help:"address for metrics and pprof, host:port, never a public one, of which the start warns; empty: off"`
}

// Memory is the section memory.
type Memory struct {
	Budget Size `key:"budget" default:"0" zero:"60 % of what the machine or the control group has, at least 256MiB" help:"memory for mail, requests and responses in progress; work that needs more than is left waits, and is refused for the time being if it waits long"`
}

// Secrets is the section secrets.
type Secrets struct {
	Key Secret `key:"key" default:"" help:"signs tokens and seals two-factor secrets, 32 characters or more; empty: made once in data_dir"`
}

// Session is the section session.
type Session struct {
	Idle time.Duration `key:"idle" default:"30m" help:"how long a guest session lives after its last use"`
}

// Account is the section account.
type Account struct {
	TokenTTL      time.Duration `key:"token_ttl" default:"720h" help:"how long a user token lives after its last use"`
	TOTPPending   time.Duration `key:"totp_pending" default:"10m" help:"time to confirm a two-factor enrolment"`
	RecoveryCodes int           `key:"recovery_codes" default:"10" max:"100" help:"recovery codes handed out with two-factor"`
	Password      Password      `key:"password" help:"cost of a password's hash (Argon2id); passwords are hashed again on sign-in when it rises"`
}

// Password is the section account.password.
type Password struct {
	Memory  Size `key:"memory" default:"19MiB" help:"memory of one hash"`
	Passes  int  `key:"passes" default:"2" max:"100" help:"passes over the memory (t)"`
	Threads int  `key:"threads" default:"1" max:"255" help:"lanes (p)"`
}

// Mailbox is the section mailbox.
type Mailbox struct {
	AddressCooldown time.Duration `key:"address_cooldown" default:"720h" zero:"none" help:"how long an ended address stays unavailable to others"`
	MaxMessages     int           `key:"max_messages" default:"1000" help:"messages a mailbox holds before the sender is told to try later"`
	Reserved        []string      `key:"reserved" default:"" help:"local parts nobody can have, beside postmaster, abuse and the like"`
	EraseEvery      time.Duration `key:"erase_every" default:"30s" help:"how often ended mailboxes are erased with their mail"`
}

// Message is the section message.
type Message struct {
	AttachmentMax  Size `key:"attachment_max" default:"5MiB" help:"largest attachment that is kept"`
	InlineImageMax Size `key:"inline_image_max" default:"512KiB" help:"largest cid: image that is put into the HTML"`
	PreviewLength  int  `key:"preview_length" default:"200" help:"characters of text in a message summary"`
}

// Domain is the section domain.
type Domain struct {
	RecheckEvery time.Duration `key:"recheck_every" default:"6h" help:"how often the MX record of a verified domain is looked up again"`
	SuspendAfter int           `key:"suspend_after" default:"3" help:"failed checks in a row that suspend a domain"`
}

// Webhooks is the section webhooks.
type Webhooks struct {
	AllowNetworks      []netip.Prefix  `key:"allow_networks" default:"" help:"private networks (CIDR) that endpoints may be in all the same; all addresses would open your own network to every account, and are warned of at the start"`
	RetrySchedule      []time.Duration `key:"retry_schedule" default:"5s, 5m, 30m, 2h, 5h, 10h, 10h" help:"pauses before the further tries of a delivery"`
	RetryJitter        int             `key:"retry_jitter" default:"20" max:"100" zero:"none" help:"how far a pause varies by chance, in percent each way"`
	RetryAfterMax      time.Duration   `key:"retry_after_max" default:"24h" help:"longest Retry-After of an endpoint that is honoured"`
	PauseAfterFailures int             `key:"pause_after_failures" default:"20" help:"failed attempts in a row that pause an endpoint"`
	PendingMax         time.Duration   `key:"pending_max" default:"72h" help:"how long deliveries wait for a paused endpoint"`
	Timeout            time.Duration   `key:"timeout" default:"15s" help:"time for one attempt"`
	InFlight           int             `key:"in_flight" default:"512" help:"attempts under way at once"`
	EndpointInFlight   int             `key:"endpoint_in_flight" default:"4" help:"attempts under way at once to one endpoint"`
	OldSecretFor       time.Duration   `key:"old_secret_for" default:"24h" zero:"not at all" help:"how long a secret that was rotated signs as well"`
	ResponseMax        Size            `key:"response_max" default:"64KiB" help:"how much of an endpoint's answer is read"`
	ResponseKept       Size            `key:"response_kept" default:"1KiB" help:"how much of an endpoint's answer is shown with the attempt"`
}

// Limits is the section limits (decisions §5).
type Limits struct {
	MailboxCreate   ratelimit.Limit `key:"mailbox_create" default:"30/1m, 300/24h" help:"mailbox creation, public and guest, of an IP address (IPv6: /64)"`
	SignIn          ratelimit.Limit `key:"signin" default:"10/5m" help:"sign-in to an account from an IP address"`
	SignInAccount   ratelimit.Limit `key:"signin_account" default:"50/5m" help:"sign-in to an account from anywhere"`
	SignInAddress   ratelimit.Limit `key:"signin_address" default:"60/5m" help:"sign-ins and registrations that reach the hash of a password, from an IP address (IPv6: /64)"`
	Register        ratelimit.Limit `key:"register" default:"10/1h" help:"registration from an IP address"`
	Session         ratelimit.Limit `key:"session" default:"30/1m" help:"guest sessions started from an IP address"`
	Reads           ratelimit.Limit `key:"reads" default:"300/1m" help:"reads with a mailbox token from an IP address"`
	LongPolls       int             `key:"long_polls" default:"100" help:"long-polls open at once from an IP address"`
	HTTPConnections int             `key:"http_connections" default:"200" help:"HTTP connections open at once from an IP address (IPv6: /64), but for those of http.trusted_proxies; more are answered 429, and probes"`
	Other           ratelimit.Limit `key:"other" default:"300/1m" help:"other calls with a credential, or else from an IP address"`
	SMTPConnections int             `key:"smtp_connections" default:"100" help:"SMTP connections open at once from an IP address"`
	SMTPMessages    ratelimit.Limit `key:"smtp_messages" default:"1000/1m" help:"messages over SMTP from an IP address"`
	SMTPRefused     ratelimit.Limit `key:"smtp_refused" default:"200/1m" help:"refused recipients of an IP address (IPv6: /64); with more, and nine in ten of all its recipients, it hears 421 until the time is over. Each process counts for itself"`
}
