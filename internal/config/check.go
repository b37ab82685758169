package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/plan"
)

// check reports what each value cannot show by itself: forms of names and addresses, and values that do not go
// together. A rule is left out when one of its keys has been reported already.
func (l *loader) check() {
	l.checkAddresses()
	l.checkNames()
	l.checkSecrets()
	l.checkTLS()
	l.checkRoles()
	l.checkBounds()
	l.checkBilling()
	for i := range l.config.Plans {
		l.checkPlan(i)
	}
}

// demand reports the first of keys, unless good or unless one of keys has failed before.
func (l *loader) demand(good bool, reason string, keys ...string) {
	failed := slices.ContainsFunc(keys, func(key string) bool { return l.table.byKey[key].failed })
	if good || failed {
		return
	}
	s := l.table.byKey[keys[0]]
	s.failed = true
	origin := s.origin
	if origin == "" {
		origin = "default"
	}
	l.fail(&Error{Key: s.key, Value: shown(s.text()), Origin: origin, Reason: reason})
}

func (l *loader) checkAddresses() {
	c := l.config
	l.demand(isBaseURL(c.BaseURL), "must be http:// or https:// and a host, without a path or a slash at the end, like https://box.example.org", "base_url")
	const listen = "is not host:port; write :8080, or 127.0.0.1:8080 for this machine alone"
	l.demand(isHostPort(c.HTTP.Addr, true), listen, "http.addr")
	l.demand(isHostPort(c.SMTP.Addr, true), listen, "smtp.addr")
	l.demand(c.Metrics.Addr == "" || isHostPort(c.Metrics.Addr, true), listen, "metrics.addr")
	l.demand(c.DNS.Resolver == "" || isHostPort(c.DNS.Resolver, false), "is not host:port, like 127.0.0.1:53", "dns.resolver")
	l.demand(!sameAddr(c.HTTP.Addr, c.SMTP.Addr), "is the address of http.addr too; give each its own", "smtp.addr", "http.addr")
	l.demand(!sameAddr(c.Metrics.Addr, c.HTTP.Addr), "is the public address http.addr; give metrics a private one", "metrics.addr", "http.addr")
	l.demand(!sameAddr(c.Metrics.Addr, c.SMTP.Addr), "is the address of smtp.addr too; give each its own", "metrics.addr", "smtp.addr")
}

func (l *loader) checkNames() {
	c := l.config
	l.demand(c.DataDir != "", "names no directory", "data_dir")
	const name = "is not a domain name in lower-case A-label form, like mail.example.org"
	l.demand(isDomain(c.SMTP.Hostname), name, "smtp.hostname")
	l.demand(len(c.Domains) > 0, "has no domain; name at least one", "domains")
	for _, d := range c.Domains {
		l.demand(isDomain(d), shown(d)+" "+name, "domains")
	}
	for _, local := range c.Mailbox.Reserved {
		l.demand(localPart.MatchString(local), shown(local)+" cannot be a local part; use lower-case letters, digits and . _ -", "mailbox.reserved")
	}
}

// secretMin is the least length of secrets.key: 32 characters of base64 or hex hold 128 bits or more.
const secretMin = 32

func (l *loader) checkSecrets() {
	key, database := string(l.config.Secrets.Key), string(l.config.Database.URL)
	l.demand(key == "" || len(key) >= secretMin, fmt.Sprintf("is shorter than %d characters; make one with: openssl rand -base64 32", secretMin), "secrets.key")
	l.demand(database == "" || isPostgres(database), "must be postgres://user:password@host/name, or empty for SQLite", "database.url")
}

func (l *loader) checkTLS() {
	tls := l.config.SMTP.TLS
	l.demand(tls.Key == "" || tls.Cert != "", "needs smtp.tls.cert beside it", "smtp.tls.key", "smtp.tls.cert")
	l.demand(tls.Cert == "" || tls.Key != "", "needs smtp.tls.key beside it", "smtp.tls.cert", "smtp.tls.key")
	l.demand(!tls.ACME || tls.Cert == "", "and smtp.tls.cert exclude each other; keep one", "smtp.tls.acme", "smtp.tls.cert")
	local := strings.HasSuffix(l.config.SMTP.Hostname, ".localhost")
	l.demand(!tls.ACME || !local, "no certificate can be had for a name below localhost; set smtp.hostname", "smtp.tls.acme", "smtp.hostname")
}

func (l *loader) checkRoles() {
	c, all := l.config, len(l.table.byKey["roles"].oneOf)
	l.demand(len(c.Roles) > 0, "names no part to run", "roles")
	l.demand(len(c.Roles) == all || c.Database.URL != "", "the other parts cannot share a SQLite database; set database.url, or leave roles out", "roles", "database.url")
}

// leastBudget is what a few mails of 25 MiB need.
const leastBudget = Size(128 << 20)

func (l *loader) checkBounds() {
	c := l.config
	l.demand(c.API.PageDefault <= c.API.PageMax, "is above api.page_max", "api.page_default", "api.page_max")
	l.demand(c.Webhooks.ResponseKept <= c.Webhooks.ResponseMax, "is above webhooks.response_max", "webhooks.response_kept", "webhooks.response_max")
	l.demand(c.HTTP.ReadHeaderTimeout <= c.HTTP.ReadTimeout, "is above http.read_timeout", "http.read_header_timeout", "http.read_timeout")
	l.demand(time.Second <= c.Database.Timeout && c.Database.Timeout <= time.Minute, "must be 1s to 1m", "database.timeout")
	l.demand(c.Memory.Budget == 0 || c.Memory.Budget >= leastBudget, "is below "+leastBudget.String(), "memory.budget")
	// RFC 9106 §3.1 asks for at least 8 KiB a lane.
	l.demand(int64(c.Account.Password.Memory) >= 8<<10*int64(c.Account.Password.Threads), "must be 8KiB or more for each of account.password.threads", "account.password.memory", "account.password.threads")
}

func (l *loader) checkBilling() {
	b := l.config.Billing
	l.demand(b.TopupMin <= b.TopupMax, "is above billing.topup_max", "billing.topup_min", "billing.topup_max")
	l.demand(b.LatePayment >= b.OrderTTL, "must not end before the order does (billing.order_ttl)", "billing.late_payment", "billing.order_ttl")
	l.demand(b.OrderKeep >= b.LatePayment, "must not end while the order can still be paid (billing.late_payment)", "billing.order_keep", "billing.late_payment")
	callback := "billing.bankpay."
	l.demand(b.Bankpay.APIKey == "" || len(b.Bankpay.AllowNetworks) > 0, "needs billing.bankpay.allow_networks beside it, the networks the bank calls from", callback+"apikey", callback+"allow_networks")
	l.demand(b.Bankpay.APIKey == "" || b.Bankpay.BankBIN != "" && b.Bankpay.AccountNumber != "", "needs billing.bankpay.bank_bin and account_number beside it, the account to pay to", callback+"apikey", callback+"bank_bin", callback+"account_number")
	l.demand(b.Bankpay.BankBIN == "" || bankBIN.MatchString(b.Bankpay.BankBIN), "must be 6 digits", callback+"bank_bin")
	l.demand(b.Bankpay.AccountNumber == "" || accountNumber.MatchString(b.Bankpay.AccountNumber), "must be up to 19 letters and digits", callback+"account_number")
}

func (l *loader) checkPlan(i int) {
	p, key := l.config.Plans[i], "plans."+l.config.Plans[i].Code+"."
	l.demand(p.Name != "", "a plan needs a name", key+"name")
	l.checkDurations(key, p.Entitlements)
	if sold := i > 1; !sold { // guest and free come first
		const free = "must stay 0: this plan is what everybody has without paying"
		l.demand(p.Prices.Monthly == 0, free, key+"price.monthly")
		l.demand(p.Prices.Yearly == 0, free, key+"price.yearly")
	}
}

// retentionMax is the longest that package raw keeps anything.
const retentionMax = 366 * 24 * time.Hour

func (l *loader) checkDurations(prefix string, e plan.Entitlements) {
	const (
		whole     = "must be whole seconds"
		standard  = "mailbox.ttl.default"
		longest   = "mailbox.ttl.max"
		lifetime  = "mailbox.lifetime.max"
		retention = "raw.retention"
	)
	l.demand(e.TTLDefault%time.Second == 0, whole, prefix+standard)
	l.demand(e.TTLMax%time.Second == 0, whole, prefix+longest)
	l.demand(e.LifetimeMax%time.Second == 0, whole, prefix+lifetime)
	l.demand(e.RawRetention%time.Second == 0, whole, prefix+retention)
	l.demand(e.RawRetention <= retentionMax, "must be 366 days or less", prefix+retention)
	l.demand(e.TTLDefault <= e.TTLMax, "is above the plan's "+longest, prefix+standard, prefix+longest)
	l.demand(e.LifetimeMax == 0 || e.TTLMax <= e.LifetimeMax, "is above the plan's "+lifetime, prefix+longest, prefix+lifetime)
}
