package house_test

import "slices"

const module = "github.com/gonebox/gonebox"

// kit are the packages that depend on no domain.
var kit = internal("autolink", "backup", "blob", "budget", "buffer", "cache", "certificate", "clock", "compose", "connlimit", "css", "datakey", "db", "deliverylog", "domainname", "event", "id", "idempotency", "job", "local", "mailauth", "mailcheck", "mailparse", "netguard", "oidc", "once", "optout", "otp", "outbound", "problem", "process",
	"ratelimit", "raw", "reserve", "resolver", "resource", "sanitize", "search", "token", "truncate", "wake", "wildcard",
	"audit")

// domains hold the rules of one noun each.
var domains = internal("block", "account", "apikey", "content", "domain", "fault", "filter", "guest", "mailbox", "message", "plan", "project",
	"sink", "subscription", "transcript", "wallet", "wallet/bankpay", "webhook")

// imports lists what each package may import of this module (docs/architecture.md, Who may import whom). A package
// without a row fails the test: adding one is a design decision.
var imports = map[string][]string{
	"cmd/gonebox": slices.Concat(domains, internal("apiclient", "app", "clock", "config", "doctor", "id", "inbox", "ingress", "ingress/catchall", "licences", "mailparse", "mcp", "otp", "problem")),

	"internal/app":              slices.Concat(kit, domains, internal("allmail", "config", "db/move", "diagnosis", "dnsbl", "follow", "httpapi", "httpkit", "inbound", "ingress", "ingress/catchall", "mailpit", "mailtm", "mcp", "ratelimit/ledger", "release", "smtpd", "webui")),
	"internal/app/apptest":      slices.Concat(kit, internal("app", "config", "db/dbtest")),
	"internal/httpapi":          slices.Concat(without(kit, "db", "job"), domains, internal("allmail", "diagnosis", "follow", "httpkit", "ingress", "release")), // a handler cannot open a transaction
	"internal/httpkit":          internal("body", "budget", "buffer", "clock", "connlimit", "id", "idempotency", "local", "problem", "ratelimit", "resource"),   // no domain
	"internal/mailpit":          slices.Concat(without(kit, "db", "job"), internal("fault", "httpkit", "inbound", "message", "release", "sink")),
	"internal/mailtm":           slices.Concat(without(kit, "db", "job"), internal("account", "domain", "follow", "httpkit", "mailbox", "message")),
	"internal/smtpd":            internal("budget", "buffer", "inbound", "clock", "fault", "id", "once", "problem", "ratelimit", "transcript"),
	"internal/smtpd/dialogtest": internal("clock"),
	"internal/webui":            nil,
	"internal/follow":           slices.Concat(kit, internal("mailbox", "message")),
	"internal/allmail":          slices.Concat(kit, internal("follow", "mailbox", "message")),
	"internal/diagnosis":        slices.Concat(kit, internal("allmail", "mailbox", "message")),
	"internal/mcp":              internal("apiclient", "body", "budget", "clock", "htmltoken", "local", "truncate"), // the service only by its API
	"internal/release":          slices.Concat(kit, internal("mailbox", "message")),
	"internal/ingress/catchall": internal("budget", "clock", "ingress"),
	"internal/ingress":          slices.Concat(kit, internal("message", "smtpd")),
	"internal/inbound":          slices.Concat(kit, internal("domain", "filter", "mailbox", "message", "plan", "sink")),

	"internal/account":        kit,
	"internal/apikey":         slices.Concat(kit, internal("plan")),
	"internal/content":        kit,
	"internal/block":          kit,
	"internal/domain":         slices.Concat(kit, internal("plan")),
	"internal/fault":          kit,
	"internal/filter":         slices.Concat(kit, internal("plan")),
	"internal/guest":          slices.Concat(kit, internal("mailbox")),
	"internal/mailbox":        kit,
	"internal/message":        kit,
	"internal/plan":           kit,
	"internal/project":        slices.Concat(kit, internal("mailbox", "message")),
	"internal/sink":           slices.Concat(kit, internal("message")),
	"internal/subscription":   slices.Concat(kit, internal("plan")),
	"internal/transcript":     kit,
	"internal/wallet":         kit,
	"internal/wallet/bankpay": slices.Concat(kit, internal("wallet")),
	"internal/webhook":        slices.Concat(kit, internal("plan")),

	"internal/apiclient":              internal("clock"),
	"internal/audit":                  internal("db", "id", "truncate"),
	"internal/apart":                  nil,
	"internal/autolink":               nil,
	"internal/backup":                 internal("audit", "clock", "db"),
	"internal/blob":                   internal("db", "raw"),
	"internal/body":                   internal("budget"),
	"internal/budget":                 nil,
	"internal/buffer":                 nil,
	"internal/truncate":               nil,
	"internal/certificate":            internal("clock"),
	"internal/clock":                  nil,
	"internal/compose":                nil,
	"internal/config":                 internal("domainname", "local", "plan", "ratelimit", "token"),
	"internal/connlimit":              nil,
	"internal/css":                    nil,
	"internal/db":                     nil,
	"internal/db/dbtest":              internal("db"),
	"internal/datakey":                internal("db", "token"),
	"internal/deliverylog":            internal("cache", "clock", "db", "id"),
	"internal/db/move":                internal("db", "raw"),
	"internal/dnsbl":                  nil,
	"internal/domainname":             nil,
	"internal/doctor":                 internal("clock", "config", "connlimit", "db", "oidc", "outbound", "resolver"),
	"internal/event":                  internal("clock", "id", "resource"),
	"internal/htmltoken":              nil,
	"internal/id":                     nil,
	"internal/idempotency":            internal("clock", "db", "id", "problem"),
	"internal/job":                    internal("clock", "db", "id"),
	"internal/cache":                  nil,
	"internal/mailauth":               internal("cache", "mailauth/dkim", "mailauth/spf"),
	"internal/mailauth/dkim":          nil,
	"internal/mailauth/dkim/dkimtest": nil,
	"internal/mailauth/spf":           nil,
	"internal/mailcheck":              internal("autolink", "css", "htmltoken", "local", "resource", "sanitize"),
	"internal/mailcheck/update":       nil,
	"internal/mailparse":              internal("buffer", "truncate"),
	"internal/netguard":               internal("clock"),
	"internal/inbox":                  internal("apiclient", "clock"),
	"internal/licences":               nil,
	"internal/local":                  internal("problem"),
	"internal/once":                   internal("clock", "db"),
	"internal/optout":                 nil,
	"internal/otp":                    internal("optout", "otp/lexicon", "otp/page", "otp/score", "truncate"),
	"internal/otp/count":              internal("otp", "otp/otptest"),
	"internal/otp/lexicon":            internal("otp/page"),
	"internal/otp/otptest":            internal("otp", "otp/lexicon", "mailparse"),
	"internal/otp/page":               internal("apart", "autolink", "htmltoken", "truncate"),
	"internal/otp/score":              internal("otp/lexicon", "otp/page"),
	"internal/problem":                internal("resource"),
	"internal/oidc":                   internal("clock", "token"),
	"internal/outbound":               internal("clock", "db", "deliverylog", "id", "job", "problem", "raw", "token"),
	"internal/process":                internal("clock", "db"),
	"internal/ratelimit":              internal("clock", "problem"),
	"internal/ratelimit/ledger":       internal("db", "ratelimit"),
	"internal/raw":                    internal("buffer", "clock", "db", "id"),
	"internal/reserve":                nil,
	"internal/resolver":               internal("cache", "clock"),
	"internal/resource":               internal("clock", "id"),
	"internal/sanitize":               internal("apart", "css", "htmltoken"),
	"internal/search":                 internal("problem", "resource", "truncate"),
	"internal/token":                  internal("clock", "id", "problem"),
	"internal/wake":                   nil,
	"internal/wildcard":               nil,
}

// outside is what programs and tests below test/ may import: they use the service as its users do.
var outside = internal("app/apptest", "config", "db/dbtest", "smtpd/dialogtest", "clock", "mailparse", "otp")

// mayImport returns the row of a package; known is false if it has none.
func mayImport(dir string) (allowed []string, known bool) {
	if below(dir, "test") {
		return outside, true
	}
	allowed, known = imports[dir]
	return allowed, known
}

func internal(names ...string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = "internal/" + name
	}
	return out
}

func without(list []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(dir string) bool { return slices.Contains(internal(names...), dir) })
}
