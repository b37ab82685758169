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
	l.checkBounds()
	l.checkBilling()
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
	same := func(a, b string) bool { return a == b && a != "" && !strings.HasSuffix(a, ":0") }
	l.require(!same(c.HTTP.Addr, c.SMTP.Addr), "is the address of http.addr too; give each its own", "smtp.addr", "http.addr")
	l.require(!same(c.Metrics.Addr, c.HTTP.Addr), "is the public address http.addr; give metrics a private one", "metrics.addr", "http.addr")
	l.require(!same(c.Metrics.Addr, c.SMTP.Addr), "is the address of smtp.addr too; give each its own", "metrics.addr", "smtp.addr")
	for _, key := range listeners()[:3] {
		l.require(!same(c.Compat.Mailpit.Addr, l.byKey[key].text()), "is the address of "+key+" too; give each its own", "compat.mailpit.addr", key)
	}
	for _, key := range listeners()[:4] {
		l.require(!same(c.Compat.MailTM.Addr, l.byKey[key].text()), "is the address of "+key+" too; give each its own", "compat.mailtm.addr", key)
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
	l.require(!tls.ACME || !local, "no certificate can be issued for a name below localhost; set smtp.hostname", "smtp.tls.acme", "smtp.hostname")
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
