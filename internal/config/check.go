package config

import (
	"slices"
	"strings"
	"time"
)

// check checks the rules that involve more than one value. It is called once all sources are applied, because a later
// source may replace a value of the file that breaks a rule.
func (l *loader) check() {
	l.checkAddresses()
	l.checkSink()
	l.checkDev()
	l.checkTLS()
	l.checkHTTPS()
	l.checkBounds()
	l.checkBilling()
	l.checkRelay()
	l.checkOIDC()
	for i := range l.config.Ingress {
		l.checkIngress(&l.config.Ingress[i])
	}
	for i := range l.config.Plans {
		l.checkPlan(i)
	}
}

// require records an error for the first of keys unless ok. It does nothing if one of keys already has an error: the rule
// was then checked with an earlier value instead of the one that the operator wrote.
func (l *loader) require(ok bool, reason string, keys ...string) {
	if ok || slices.ContainsFunc(keys, func(key string) bool { return l.byKey[key].failed }) {
		return
	}
	s := l.byKey[keys[0]]
	origin := s.origin
	if origin == "" {
		origin = "default"
	}
	l.reject(s, s.text(), origin, reason)
}

// checkAddresses checks that no two listeners have the same address, and that a process with fewer roles has a shared
// database.
func (l *loader) checkAddresses() {
	c := l.config
	for i, key := range listeners() {
		addr := l.byKey[key].text()
		for _, other := range listeners()[:i] {
			same := addr == l.byKey[other].text() && addr != "" && !strings.HasSuffix(addr, ":0")
			reason := "is the address of " + other + " too; give each its own"
			if key == "metrics.addr" && other == "http.addr" {
				reason = "is the public address http.addr; give metrics a private one"
			}
			l.require(!same, reason, key, other)
		}
	}
	all := len(l.byKey["roles"].oneOf)
	l.require(len(c.Roles) == all || c.Database.URL != "", "the other parts cannot share a SQLite database; set database.url, or leave roles out", "roles", "database.url")
}

// checkSink checks that an account is named for the mail of the sink (docs/spec/dev.md#the-sink).
func (l *loader) checkSink() {
	sink := l.config.SMTP.Sink
	l.require(len(sink.Domains) == 0 || sink.Account != "", "needs smtp.sink.account beside it, the account that gets the mail", "smtp.sink.domains", "smtp.sink.account")
}

// checkTLS checks that the certificate has at most one source, and that it can be used.
func (l *loader) checkTLS() {
	tls := l.config.SMTP.TLS
	l.require(tls.Key == "" || tls.Cert != "", "needs smtp.tls.cert beside it", "smtp.tls.key", "smtp.tls.cert")
	l.require(tls.Cert == "" || tls.Key != "", "needs smtp.tls.key beside it", "smtp.tls.cert", "smtp.tls.key")
	l.require(!tls.ACME || tls.Cert == "", "and smtp.tls.cert exclude each other; keep one", "smtp.tls.acme", "smtp.tls.cert")
	local := strings.HasSuffix(l.config.SMTP.Hostname, ".localhost")
	ofProfile := l.config.IsDev() && tls.Addr == DevSMTPSAddr
	l.require(tls.Addr == "" || ofProfile || l.config.HasMailCertificate(), "needs a certificate: set smtp.tls.cert and key, smtp.tls.acme, smtp.tls.self_signed or http.tls", "smtp.tls.addr")
	l.require(!tls.ACME || !local, "no certificate can be issued for a name below localhost; set smtp.hostname", "smtp.tls.acme", "smtp.hostname")
}

// HasMailCertificate reports whether there is a certificate for SMTP, so that TLS can be offered.
func (c *Config) HasMailCertificate() bool {
	tls := c.SMTP.TLS
	return tls.Cert != "" || tls.ACME || tls.SelfSigned || c.HTTP.IsTLS()
}

// checkHTTPS checks that HTTPS has at most one source of certificates, and that base_url is the URL of what is served.
func (l *loader) checkHTTPS() {
	c, tls := l.config, l.config.HTTP.TLS
	l.require(tls.Key == "" || tls.Cert != "", "needs http.tls.cert beside it", "http.tls.key", "http.tls.cert")
	l.require(tls.Cert == "" || tls.Key != "", "needs http.tls.key beside it", "http.tls.cert", "http.tls.key")
	const hosts = "http.tls.acme.hosts"
	l.require(len(tls.ACME.Hosts) == 0 || tls.Cert == "", "and http.tls.cert exclude each other; keep one", hosts, "http.tls.cert")
	l.require(tls.ACME.Email == "" || len(tls.ACME.Hosts) > 0, "needs http.tls.acme.hosts beside it, the names of the certificates", "http.tls.acme.email", hosts)
	l.require(tls.ACME.Roots == "" || len(tls.ACME.Hosts) > 0, "needs http.tls.acme.hosts beside it, the names of the certificates", "http.tls.acme.roots", hosts)
	l.require(!c.IsDev() || len(tls.ACME.Hosts) == 0, "are public names, which profile: dev must not have; use http.tls.cert and key", hosts, "profile")
	scheme, host := splitURL(c.BaseURL)
	l.require(c.HTTP.RedirectAddr == "" || c.HTTP.IsTLS() || scheme == "https",
		"needs http.tls.acme.hosts, or http.tls.cert and key beside it, for HTTPS to redirect to", "http.redirect_addr", hosts, "http.tls.cert", "base_url")
	if !c.HTTP.IsTLS() || !c.hasBaseURL() {
		return
	}
	l.require(scheme == "https", "is plain HTTP, but with http.tls the service speaks HTTPS alone; write https://", "base_url", hosts, "http.tls.cert")
	l.require(len(tls.ACME.Hosts) == 0 || slices.Contains(tls.ACME.Hosts, host), "has a host without a certificate; add it to "+hosts, "base_url", hosts)
}

// checkBounds checks pairs of settings of which one is an upper or lower bound of the other.
func (l *loader) checkBounds() {
	c := l.config
	l.require(c.API.PageDefault <= c.API.PageMax, "is above api.page_max", "api.page_default", "api.page_max")
	l.require(c.Webhooks.ResponseKept <= c.Webhooks.ResponseMax, "is above webhooks.response_max", "webhooks.response_kept", "webhooks.response_max")
	l.require(c.HTTP.ReadHeaderTimeout <= c.HTTP.ReadTimeout, "is above http.read_timeout", "http.read_header_timeout", "http.read_timeout")
	// RFC 9106 §3.1 requires at least 8 KiB for each lane.
	l.require(int64(c.Account.Password.Memory) >= 8<<10*int64(c.Account.Password.Threads), "must be 8KiB or more for each of account.password.threads", "account.password.memory", "account.password.threads")
}

// checkBilling checks the bounds of a top-up, that the periods of an order end in the right sequence, and that a bank with
// an API key is configured completely.
func (l *loader) checkBilling() {
	b := l.config.Billing
	l.require(b.TopupMin <= b.TopupMax, "is above billing.topup_max", "billing.topup_min", "billing.topup_max")
	l.require(b.LatePayment >= b.OrderTTL, "must not end before the order does (billing.order_ttl)", "billing.late_payment", "billing.order_ttl")
	l.require(b.OrderKeep >= b.LatePayment, "must not end while the order can still be paid (billing.late_payment)", "billing.order_keep", "billing.late_payment")
	const bank = "billing.bankpay."
	l.require(b.Bankpay.APIKey == "" || len(b.Bankpay.AllowNetworks) > 0, "needs billing.bankpay.allow_networks beside it, the networks the bank calls from", bank+"apikey", bank+"allow_networks")
	l.require(b.Bankpay.APIKey == "" || b.Bankpay.BankBIN != "" && b.Bankpay.AccountNumber != "", "needs billing.bankpay.bank_bin and account_number beside it, the account to pay to", bank+"apikey", bank+"bank_bin", bank+"account_number")
}

// retentionMax is the longest retention that package raw supports.
const retentionMax = 366 * 24 * time.Hour

// checkPlan checks the plan with index i in Config.Plans.
func (l *loader) checkPlan(i int) {
	p, key := l.config.Plans[i], "plans."+l.config.Plans[i].Code+"."
	if unsold := i < 2; unsold { // guest and free come first
		const free = "must stay 0: this plan costs nothing"
		l.require(p.Prices.Monthly == 0, free, key+"price.monthly")
		l.require(p.Prices.Yearly == 0, free, key+"price.yearly")
	}
	const ttl, ttlMax, lifetime, retention = "mailbox.ttl.default", "mailbox.ttl.max", "mailbox.lifetime.max", "raw.retention"
	e := p.Entitlements
	const whole = "must be whole seconds"
	l.require(e.TTLDefault%time.Second == 0, whole, key+ttl)
	l.require(e.TTLMax%time.Second == 0, whole, key+ttlMax)
	l.require(e.LifetimeMax%time.Second == 0, whole, key+lifetime)
	l.require(e.RawRetention%time.Second == 0, whole, key+retention)
	l.require(e.RawRetention <= retentionMax, "must be 366 days or less", key+retention)
	l.require(e.TTLDefault <= e.TTLMax, "is above the plan's "+ttlMax, key+ttl, key+ttlMax)
	l.require(e.LifetimeMax == 0 || e.TTLMax <= e.LifetimeMax, "is above the plan's "+lifetime, key+ttlMax, key+lifetime)
}
