package house_test

import "slices"

const module = "github.com/gonebox/gonebox"

// kit are the packages that depend on no domain.
var kit = internal("blob", "budget", "buffer", "cache", "clock", "compose", "connlimit", "datakey", "db", "deliverylog", "event", "id", "idempotency", "job", "mailauth", "mailparse", "netguard", "otp", "problem",
	"ratelimit", "raw", "reserve", "resolver", "resource", "sanitize", "token", "truncate", "wake",
	"audit")

// domains hold the rules of one noun each.
var domains = internal("block", "account", "apikey", "content", "domain", "filter", "guest", "mailbox", "message", "plan",
	"sink", "subscription", "wallet", "wallet/bankpay", "webhook")

// imports lists what each package may import of this module (docs/architecture.md, Who may import whom). A package
// without a row fails the test: adding one is a design decision.
var imports = map[string][]string{
	"cmd/gonebox": slices.Concat(domains, internal("app", "clock", "config", "doctor", "id", "inbox", "licences", "mailparse", "mcp", "otp", "problem")),

	"internal/app":              slices.Concat(kit, domains, internal("config", "db/move", "dnsbl", "follow", "httpapi", "httpkit", "inbound", "mailpit", "mailtm", "mcp", "ratelimit/ledger", "smtpd", "webui")),
	"internal/app/apptest":      slices.Concat(kit, internal("app", "config", "db/dbtest")),
	"internal/httpapi":          slices.Concat(without(kit, "db", "job"), domains, internal("follow", "httpkit")),                // a handler cannot open a transaction
	"internal/httpkit":          internal("budget", "buffer", "clock", "connlimit", "id", "idempotency", "problem", "ratelimit"), // no domain
	"internal/mailpit":          slices.Concat(without(kit, "db", "job"), internal("httpkit", "inbound", "message", "sink")),
	"internal/mailtm":           slices.Concat(without(kit, "db", "job"), internal("account", "domain", "follow", "httpkit", "mailbox", "message")),
	"internal/smtpd":            internal("budget", "buffer", "inbound", "clock", "id", "problem", "ratelimit"),
	"internal/smtpd/dialogtest": internal("clock"),
	"internal/webui":            nil,
	"internal/follow":           slices.Concat(kit, internal("mailbox", "message")),
	"internal/mcp":              internal("budget", "clock", "htmltoken", "otp", "truncate"), // the service only by its API
	"internal/inbound":          slices.Concat(kit, internal("domain", "filter", "mailbox", "message", "plan", "sink")),

	"internal/account":        kit,
	"internal/apikey":         slices.Concat(kit, internal("plan")),
	"internal/content":        kit,
	"internal/block":          kit,
	"internal/domain":         slices.Concat(kit, internal("plan")),
	"internal/filter":         slices.Concat(kit, internal("plan")),
	"internal/guest":          slices.Concat(kit, internal("mailbox")),
	"internal/mailbox":        kit,
	"internal/message":        kit,
	"internal/plan":           kit,
	"internal/sink":           slices.Concat(kit, internal("message")),
	"internal/subscription":   slices.Concat(kit, internal("plan")),
	"internal/wallet":         kit,
	"internal/wallet/bankpay": slices.Concat(kit, internal("wallet")),
	"internal/webhook":        slices.Concat(kit, internal("plan")),

	"internal/audit":            internal("db", "id", "truncate"),
	"internal/blob":             internal("db", "raw"),
	"internal/budget":           nil,
	"internal/buffer":           nil,
	"internal/truncate":         nil,
	"internal/clock":            nil,
	"internal/compose":          nil,
	"internal/config":           internal("plan", "ratelimit", "token"),
	"internal/connlimit":        nil,
	"internal/db":               nil,
	"internal/db/dbtest":        internal("db"),
	"internal/datakey":          internal("db", "token"),
	"internal/deliverylog":      internal("cache", "clock", "db", "id"),
	"internal/db/move":          internal("db", "raw"),
	"internal/dnsbl":            nil,
	"internal/doctor":           internal("clock", "config", "connlimit", "db", "resolver"),
	"internal/event":            internal("clock", "id", "resource"),
	"internal/htmltoken":        nil,
	"internal/id":               nil,
	"internal/idempotency":      internal("clock", "db", "id", "problem"),
	"internal/job":              internal("clock", "db", "id"),
	"internal/cache":            nil,
	"internal/mailauth":         internal("cache"),
	"internal/mailparse":        internal("buffer", "truncate"),
	"internal/netguard":         internal("clock"),
	"internal/inbox":            internal("clock"),
	"internal/licences":         nil,
	"internal/otp":              internal("otp/lexicon", "otp/page", "otp/score", "truncate"),
	"internal/otp/count":        internal("otp", "otp/otptest"),
	"internal/otp/lexicon":      internal("otp/page"),
	"internal/otp/otptest":      internal("otp", "otp/lexicon", "mailparse"),
	"internal/otp/page":         internal("htmltoken", "truncate"),
	"internal/otp/score":        internal("otp/lexicon", "otp/page"),
	"internal/problem":          nil,
	"internal/ratelimit":        internal("clock", "problem"),
	"internal/ratelimit/ledger": internal("db", "ratelimit"),
	"internal/raw":              internal("buffer", "clock", "db", "id"),
	"internal/reserve":          nil,
	"internal/resolver":         internal("cache", "clock"),
	"internal/resource":         internal("clock", "id"),
	"internal/sanitize":         internal("htmltoken"),
	"internal/token":            internal("clock", "id", "problem"),
	"internal/wake":             nil,
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
