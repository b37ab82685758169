package config

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/gonebox/gonebox/internal/ratelimit"
)

// Log is the section log.
type Log struct {
	Level  slog.Level `key:"level" default:"info" oneof:"debug info warn error" help:"minimum level of the messages that are logged"`
	Format string     `key:"format" default:"text" oneof:"text json" help:"format of log lines"`
}

// HTTP is the section http.
type HTTP struct {
	Addr              string         `key:"addr" default:":8080" form:"listen" help:"address to listen on, host:port"`
	RedirectAddr      string         `key:"redirect_addr" default:"" form:"listen" help:"address to listen on for plain HTTP beside HTTPS, host:port, usually :80: it answers the HTTP challenges of ACME and redirects everything else to https; empty: off"`
	TrustedProxies    []netip.Prefix `key:"trusted_proxies" default:"" help:"networks (CIDR) of the proxies whose X-Forwarded-For is trusted; listing all addresses lets every client choose its own and is warned about at start" open:"every client can choose its own address with X-Forwarded-For, which defeats all limits by address and the networks of developer keys; list only the networks of your proxies"`
	BodyMax           Size           `key:"body_max" default:"16KiB" help:"maximum size of a request body"`
	LargeBodyMax      Size           `key:"large_body_max" default:"1MiB" help:"maximum size of the request body of a filter trial and of the bank's callback"`
	HeaderMax         Size           `key:"header_max" default:"64KiB" help:"maximum size of a request header"`
	ReadHeaderTimeout time.Duration  `key:"read_header_timeout" default:"10s" help:"time for a client to send the header of a request"`
	ReadTimeout       time.Duration  `key:"read_timeout" default:"30s" help:"time for a client to send a whole request"`
	WriteTimeout      time.Duration  `key:"write_timeout" default:"30s" help:"time to respond to a request, or for a client to receive 64KiB of a raw message; a long-poll has its wait on top"`
	IdleTimeout       time.Duration  `key:"idle_timeout" default:"2m" help:"how long an idle connection is kept open"`
	TLS               HTTPTLS        `key:"tls" help:"HTTPS on http.addr: certificate files, certificates obtained by ACME, or neither, for plain HTTP; SMTP uses the certificate too unless it has its own (smtp.tls)"`
}

// HTTPTLS is the section http.tls.
type HTTPTLS struct {
	Cert string   `key:"cert" default:"" help:"PEM file of the certificate chain; read again when it changes"`
	Key  string   `key:"key" default:"" help:"PEM file of the certificate's private key"`
	ACME HTTPACME `key:"acme" help:"certificates obtained and renewed by ACME"`
}

// HTTPACME is the section http.tls.acme.
type HTTPACME struct {
	Email     string   `key:"email" default:"" form:"email" help:"contact address for the authority; may be left out"`
	Hosts     []string `key:"hosts" default:"" form:"acme_host" help:"names to obtain a certificate for each, such as the host of base_url and smtp.hostname; the authority must reach http.addr on port 443 or http.redirect_addr on port 80 of each; empty: off"`
	Directory string   `key:"directory" default:"https://acme-v02.api.letsencrypt.org/directory" form:"acme_directory" help:"directory URL of the ACME authority, whose terms are accepted by using it"`
	Roots     string   `key:"roots" default:"" help:"PEM file of the certificates by which the authority is trusted; empty: those of the system"`
}

// API is the section api.
type API struct {
	WaitMax         time.Duration `key:"wait_max" default:"60s" help:"longest long-poll (the query parameter wait)"`
	PageDefault     int           `key:"page_default" default:"50" help:"entries in a page when the query has no limit"`
	PageMax         int           `key:"page_max" default:"100" help:"maximum number of entries in a page; a call may ask for up to 100, and gets at most this many"`
	IdempotencyKeep time.Duration `key:"idempotency_keep" default:"24h" help:"how long an Idempotency-Key and its response are kept"`
}

// SMTP is the section smtp.
type SMTP struct {
	Addr           string         `key:"addr" default:":2525" form:"listen" help:"address to listen on, host:port"`
	Hostname       string         `key:"hostname" default:"mx.gonebox.localhost" form:"domain" help:"name of this server: in the greeting, and what the MX record of a private domain must point to"`
	MaxSize        Size           `key:"max_size" default:"25MiB" help:"maximum size of a message (SIZE of RFC 1870)"`
	MaxRecipients  int            `key:"max_recipients" default:"100" help:"maximum number of recipients of a message"`
	MaxCommands    int            `key:"max_commands" default:"1000" help:"maximum number of commands in a session without a message being accepted"`
	MaxErrors      int            `key:"max_errors" default:"100" help:"maximum number of refused commands in a session without a message being accepted"`
	SetMax         int            `key:"set_max" default:"512" help:"maximum number of mails in a batch, which shares one transaction and one sync; 1: a transaction for each mail, which is slower and exists for comparison"`
	TrustedProxies []netip.Prefix `key:"trusted_proxies" default:"" help:"networks (CIDR) of the load balancers that use the PROXY protocol on smtp.addr; they must use it, and no other client may; listing all addresses lets every sender choose its own and is warned about at start" open:"every sender can choose its own address with the PROXY protocol, which defeats all limits by address and SPF; list only the networks of your load balancers"`
	XClient        []netip.Prefix `key:"xclient" default:"" help:"networks (CIDR) of the mail servers and proxies, such as a Postfix in front, that may name the client whose mail they pass on with XCLIENT or XFORWARD; listing all addresses lets every sender choose its own and is warned about at start" open:"every sender can choose its own address with XCLIENT and XFORWARD, which defeats all limits by address and SPF; list only the networks of your mail servers"`
	CommandTimeout time.Duration  `key:"command_timeout" default:"5m" help:"how long to wait for a command (RFC 5321 §4.5.3.2.7)"`
	DataTimeout    time.Duration  `key:"data_timeout" default:"3m" help:"longest pause within a message (RFC 5321 §4.5.3.2.5)"`
	WriteTimeout   time.Duration  `key:"write_timeout" default:"2m" help:"time for a client to receive a reply"`
	SessionTimeout time.Duration  `key:"session_timeout" default:"1h" help:"maximum duration of a connection"`
	MemoryTimeout  time.Duration  `key:"memory_timeout" default:"1m" help:"how long a message waits for memory (memory.budget) before its sender is asked to try again later"`
	Auth           string         `key:"auth" default:"off" oneof:"off accept_any" help:"SMTP AUTH: off, or any credentials are accepted from clients on loopback and private networks and grant nothing, for applications that insist on signing in"`
	Projects       string         `key:"projects" default:"off" oneof:"on off" help:"projects: mailboxes that take mail for any address from clients that sign in with the project's name and password, over TLS or on loopback and private networks"`
	DNSBL          []string       `key:"dnsbl" default:"" form:"dnsbl" help:"DNS blocklists (RFC 5782), like bl.example.org; recipients from a client that one of them lists are refused; clients on loopback and private networks are not looked up, and a list that does not respond refuses no mail"`
	Sink           Sink           `key:"sink" help:"domains whose mail opens mailboxes of one account, for the mail of systems under test"`
	TLS            TLS            `key:"tls" help:"STARTTLS and SMTP over TLS: certificate files, a certificate obtained by ACME, or neither, for the certificate of http.tls"`
}

// TLS is the section smtp.tls.
type TLS struct {
	Addr          string `key:"addr" default:"" form:"listen" help:"address to listen on for clients that speak TLS from the first octet (RFC 8314), host:port; port 465 is usual; empty: off"`
	Cert          string `key:"cert" default:"" help:"PEM file of the certificate chain; read again when it changes"`
	Key           string `key:"key" default:"" help:"PEM file of the certificate's private key"`
	ACME          bool   `key:"acme" default:"false" help:"obtain and renew a certificate for smtp.hostname by ACME; http.redirect_addr, or http.addr without http.tls, must be reachable on port 80 of that name"`
	SelfSigned    bool   `key:"self_signed" default:"false" help:"where there is no other certificate, make one at the start; clients that verify certificates do not trust it"`
	ACMEDirectory string `key:"acme_directory" default:"https://acme-v02.api.letsencrypt.org/directory" help:"directory URL of the ACME authority, whose terms are accepted by using it"`
}

// Sink is the section smtp.sink.
type Sink struct {
	Domains   []string      `key:"domains" default:"" form:"sink_domain" help:"domains of which every address is accepted; \"*\" is every domain that is not served otherwise"`
	Account   string        `key:"account" default:"" help:"e-mail address of the account that the mailboxes belong to"`
	TTL       time.Duration `key:"ttl" default:"168h" min:"1m" max:"8784h" help:"how long a mailbox lives after it was opened, and raw messages in it are kept"`
	Mailboxes int           `key:"mailboxes" default:"10000" max:"1000000" help:"maximum number of live mailboxes; the oldest is ended when another is opened"`
}

// Dev is the section dev.
type Dev struct {
	Key   Secret   `key:"key" default:"" form:"developer_key" help:"developer key of the account dev@gonebox.localhost, a whole key x_...; empty: derived from the secret of the installation, and printed at start"`
	Hosts []string `key:"hosts" default:"" form:"host" help:"further hosts, names or addresses without a port, by which local clients may call the service and whose web pages may call it; see docs/spec/dev.md#local-requests"`
}

// Compat is the section compat.
type Compat struct {
	Mailpit Mailpit `key:"mailpit" help:"the APIs of Mailpit and MailHog over the mail of smtp.sink, without authentication"`
	MailTM  MailTM  `key:"mailtm" help:"the API of mail.tm over mailboxes with a password"`
}

// MailTM is the section compat.mailtm.
type MailTM struct {
	Addr  string          `key:"addr" default:"" form:"listen" help:"address to listen on, host:port; empty: off"`
	TTL   time.Duration   `key:"ttl" default:"24h" min:"1m" max:"8784h" help:"how long an account lives after it was created or last used, at most the lifetime of a guest's mailbox"`
	Limit ratelimit.Limit `key:"limit" default:"8/1s" help:"calls from an IP address (IPv6: /64)"`
	Hosts []string        `key:"hosts" default:"" form:"host" help:"further hosts by which it may be called, beside addresses, private names, the host of base_url and dev.hosts"`
}

// Mailpit is the section compat.mailpit.
type Mailpit struct {
	Addr  string   `key:"addr" default:"" form:"listen" help:"address to listen on, host:port; clients outside of loopback and private networks are refused; empty: off"`
	Path  string   `key:"path" default:"" form:"mailpit_path" help:"path below which it is served too, such as /mailpit behind a proxy; empty: none"`
	Hosts []string `key:"hosts" default:"" form:"host" help:"further hosts by which it may be called, beside addresses, private names, the host of base_url and dev.hosts, and whose web pages may call it"`
}

// Database is the section database.
type Database struct {
	URL     Secret        `key:"url" default:"" form:"postgres" help:"postgres://user:password@host/name; empty: SQLite in data_dir"`
	Timeout time.Duration `key:"timeout" default:"5s" min:"1s" max:"1m" help:"time for PostgreSQL to run a statement; a silent server is detected within it"`

	StartEmpty bool `key:"start_empty" default:"false" help:"begin with an empty database although data_dir has the secret.key or the raw messages of a service; otherwise the start is refused, since the database was probably lost or another one was meant"`

	// Connections is the sum over all pools of the process, see package app.
	Connections int `key:"connections" default:"24" min:"12" max:"1000" help:"connections that this process opens to PostgreSQL at most; half of them read, half of them write"`
}

// DNS is the section dns.
type DNS struct {
	Resolver       string        `key:"resolver" default:"" form:"host_port" help:"recursive resolver to use, host:port; empty: the system's"`
	Timeout        time.Duration `key:"timeout" default:"2s" help:"time for one attempt of a query"`
	MailAuthBudget time.Duration `key:"mail_auth_budget" default:"3s" help:"time for SPF, DKIM and DMARC of one message together"`
}

// Metrics is the section metrics.
type Metrics struct {
	Addr  string   `key:"addr" default:"" form:"listen" help:"address for metrics and pprof, host:port, never a public one, which is warned about at start; empty: off" open:"metrics and profiles can be read from other networks, without a password; bind them to 127.0.0.1 or a private address"`
	Hosts []string `key:"hosts" default:"" form:"host" help:"further hosts by which metrics and profiles may be read, beside addresses, private names, the host of base_url and dev.hosts"`
}

// Memory is the section memory.
type Memory struct {
	Budget Size `key:"budget" default:"0" min:"128MiB" zero:"60 % of the memory of the machine or control group, at least 256MiB" help:"memory for mail, requests and responses in progress; work that needs more than is left waits, and is refused temporarily if it waits too long"`
}

// Secrets is the section secrets.
type Secrets struct {
	Key      Secret `key:"key" default:"" form:"secret_key" help:"signs tokens and encrypts two-factor secrets: 64 hex digits or the base64 of 32 octets; empty: generated once in data_dir"`
	Previous Secret `key:"previous" default:"" form:"secret_keys" help:"earlier values of key, separated by commas, whose tokens are still accepted; gonebox secret rotate says what to set"`
}

// Access is the section access.
type Access struct {
	Registration   string `key:"registration" default:"open" oneof:"open invite closed" help:"who may register an account: everyone, clients with an invitation (gonebox invite add), or none but those that the operator adds (gonebox user add)"`
	Guests         string `key:"guests" default:"on" oneof:"on off" help:"whether clients without an account may create mailboxes and guest sessions"`
	ConfirmEmail   string `key:"confirm_email" default:"off" oneof:"off required" help:"required: an account that registered has no keys, domains and webhooks until its e-mail address is confirmed by a code, for which relay.url is needed"`
	Password       string `key:"password" default:"on" oneof:"on off" help:"off: accounts sign in with oidc.issuer alone; nobody registers or signs in with a password"`
	StaffTwoFactor string `key:"staff_two_factor" default:"off" oneof:"off required" help:"required: accounts with the role staff can do what staff do only while two-factor authentication is active for them"`
	Contact        string `key:"contact" default:"" form:"contact" help:"whom users may ask, for example when they forgot their password and there is no relay: an e-mail address or a URL, which is public"`
}

// Session is the section session.
type Session struct {
	Idle time.Duration `key:"idle" default:"30m" help:"how long a guest session lives after its last use"`
}

// Account is the section account.
type Account struct {
	TokenTTL      time.Duration `key:"token_ttl" default:"720h" help:"how long a user token lives after its last use"`
	TOTPPending   time.Duration `key:"totp_pending" default:"10m" help:"time to confirm a two-factor enrolment"`
	RecoveryCodes int           `key:"recovery_codes" default:"10" max:"100" help:"recovery codes issued with two-factor authentication"`
	Password      Password      `key:"password" help:"cost of a password hash (Argon2id); when it is raised, passwords are hashed again at sign-in"`
}

// Password is the section account.password.
type Password struct {
	Memory  Size `key:"memory" default:"19MiB" help:"memory of one hash"`
	Passes  int  `key:"passes" default:"2" max:"100" help:"passes over the memory (t)"`
	Threads int  `key:"threads" default:"1" max:"255" help:"lanes (p)"`
}

// Mailbox is the section mailbox.
type Mailbox struct {
	AddressCooldown time.Duration `key:"address_cooldown" default:"720h" zero:"none" help:"how long the address of an ended mailbox stays unavailable to other owners"`
	MaxMessages     int           `key:"max_messages" default:"1000" help:"messages a mailbox holds before senders are asked to try again later"`
	Reserved        []string      `key:"reserved" default:"" form:"local_part" help:"local parts that cannot be chosen, in addition to postmaster, abuse and the like"`
	EraseEvery      time.Duration `key:"erase_every" default:"30s" help:"how often ended mailboxes and their mail are erased"`
}

// Message is the section message.
type Message struct {
	AttachmentMax  Size `key:"attachment_max" default:"5MiB" help:"maximum size of an attachment that is kept"`
	InlineImageMax Size `key:"inline_image_max" default:"512KiB" help:"maximum size of a cid: image that is embedded in the HTML"`
	PreviewLength  int  `key:"preview_length" default:"200" help:"characters of text in a message summary"`
}

// Domain is the section domain.
type Domain struct {
	RecheckEvery time.Duration `key:"recheck_every" default:"6h" help:"how often the MX record of a verified domain is checked again"`
	SuspendAfter int           `key:"suspend_after" default:"3" help:"consecutive failed checks that suspend a domain"`
}

// Webhooks is the section webhooks.
type Webhooks struct {
	AllowNetworks      []netip.Prefix  `key:"allow_networks" default:"" help:"private networks (CIDR) that endpoints may be in; listing all addresses opens your own network to every account and is warned about at start" open:"every account can have requests sent to your private network and to this machine; list only the networks of your own endpoints"`
	RetrySchedule      []time.Duration `key:"retry_schedule" default:"5s, 5m, 30m, 2h, 5h, 10h, 10h" help:"pauses before each retry of a delivery"`
	RetryJitter        int             `key:"retry_jitter" default:"20" max:"100" zero:"none" help:"random variation of a pause, in percent in either direction"`
	RetryAfterMax      time.Duration   `key:"retry_after_max" default:"24h" help:"longest Retry-After of an endpoint that is honoured"`
	PauseAfterFailures int             `key:"pause_after_failures" default:"20" help:"consecutive failed attempts that pause an endpoint"`
	PendingMax         time.Duration   `key:"pending_max" default:"72h" help:"how long deliveries are held for a paused endpoint"`
	Timeout            time.Duration   `key:"timeout" default:"15s" help:"time for one attempt"`
	InFlight           int             `key:"in_flight" default:"512" help:"maximum number of concurrent attempts"`
	EndpointInFlight   int             `key:"endpoint_in_flight" default:"4" help:"maximum number of concurrent attempts to one endpoint"`
	OldSecretFor       time.Duration   `key:"old_secret_for" default:"24h" zero:"not at all" help:"how long deliveries are also signed with the previous secret after a rotation"`
	ResponseMax        Size            `key:"response_max" default:"64KiB" help:"how much of an endpoint's response is read"`
	ResponseKept       Size            `key:"response_kept" default:"1KiB" help:"how much of an endpoint's response is shown with the attempt"`
}

// Billing is the section billing (docs/spec/billing.md).
type Billing struct {
	VNDPerPoint    int64         `key:"vnd_per_point" default:"1000" help:"price of a point, in VND"`
	TopupMin       int64         `key:"topup_min" default:"10000" help:"minimum top-up, in VND"`
	TopupMax       int64         `key:"topup_max" default:"50000000" help:"maximum top-up, in VND"`
	OrderTTL       time.Duration `key:"order_ttl" default:"24h" help:"time to pay a top-up order"`
	LatePayment    time.Duration `key:"late_payment" default:"720h" help:"how long after its creation an expired order is still credited when a matching payment arrives"`
	OpenOrders     int           `key:"open_orders" default:"1000" help:"maximum number of unpaid top-up orders of an account"`
	OrderKeep      time.Duration `key:"order_keep" default:"2160h" help:"how long after its creation an unpaid order is erased"`
	RetryFor       time.Duration `key:"retry_for" default:"1h" help:"how long a bank transaction that cannot be booked is retried before it is left to staff"`
	ReconcileEvery time.Duration `key:"reconcile_every" default:"10s" help:"how often bank transactions are matched with orders"`
	RenewEvery     time.Duration `key:"renew_every" default:"1m" help:"how often ended subscription periods are looked for"`
	Providers      Providers     `key:"providers" help:"payment providers and whether they are offered"`
	Bankpay        Bankpay       `key:"bankpay" help:"the account that receives bank transfers, and the bank's callback"`
}

// Providers is the section billing.providers.
type Providers struct {
	Bankpay string `key:"bankpay" default:"active" oneof:"active coming_soon disabled" help:"VND bank transfer"`
	BNB     string `key:"bnb" default:"coming_soon" oneof:"coming_soon disabled" help:"BNB"`
}

// Bankpay is the section billing.bankpay.
type Bankpay struct {
	APIKey        Secret         `key:"apikey" default:"" help:"shared secret of the bank's callback; empty: the callback is refused"`
	AllowNetworks []netip.Prefix `key:"allow_networks" default:"" help:"networks (CIDR) from which the bank's callback is accepted; listing all addresses leaves the shared secret as the only protection and is warned about at start" open:"the bank's callback is protected by its shared secret alone; list the networks that the bank calls from"`
	BankBIN       string         `key:"bank_bin" default:"" form:"bank_bin" help:"the bank's number in VietQR, 6 digits"`
	BankName      string         `key:"bank_name" default:"" help:"display name of the bank"`
	AccountNumber string         `key:"account_number" default:"" form:"account_number" help:"number of the account to pay to"`
	AccountName   string         `key:"account_name" default:"" help:"holder of the account to pay to"`
}

// Limits is the section limits (docs/spec/limits.md).
type Limits struct {
	MailboxCreate   ratelimit.Limit `key:"mailbox_create" default:"30/1m, 300/24h" help:"mailbox creation, public and guest, from an IP address (IPv6: /64)"`
	SignIn          ratelimit.Limit `key:"signin" default:"10/5m" help:"sign-in to an account from an IP address"`
	SignInAccount   ratelimit.Limit `key:"signin_account" default:"50/5m" help:"sign-in to an account from anywhere"`
	SignInAddress   ratelimit.Limit `key:"signin_address" default:"60/5m" help:"sign-ins and registrations that get as far as hashing a password, from an IP address (IPv6: /64)"`
	Register        ratelimit.Limit `key:"register" default:"10/1h" help:"registration from an IP address"`
	Session         ratelimit.Limit `key:"session" default:"30/1m" help:"guest sessions started from an IP address"`
	Reads           ratelimit.Limit `key:"reads" default:"300/1m" help:"reads with a mailbox token from an IP address"`
	Inject          ratelimit.Limit `key:"inject" default:"30/1m" help:"messages that are injected from an IP address"`
	Release         ratelimit.Limit `key:"release" default:"20/1h" help:"messages that an account releases through the relay"`
	LongPolls       int             `key:"long_polls" default:"100" help:"long-polls open at once from an IP address"`
	HTTPConnections int             `key:"http_connections" default:"200" help:"HTTP connections open at once from an IP address (IPv6: /64), except from http.trusted_proxies; further ones get the response 429, except for health checks"`
	Other           ratelimit.Limit `key:"other" default:"300/1m" help:"other calls with a credential, or from an IP address where there is none"`
	SMTPConnections int             `key:"smtp_connections" default:"100" help:"SMTP connections open at once from an IP address"`
	SMTPMessages    ratelimit.Limit `key:"smtp_messages" default:"1000/1m" help:"messages over SMTP from an IP address"`
	SMTPRefused     ratelimit.Limit `key:"smtp_refused" default:"200/1m" help:"refused recipients from an IP address (IPv6: /64); an address above it, with at least nine in ten of its recipients refused, gets 421 until the period ends. Each process counts on its own"`
}
