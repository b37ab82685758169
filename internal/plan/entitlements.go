package plan

import (
	"iter"
	"reflect"
	"time"

	"github.com/gonebox/gonebox/internal/ratelimit"
)

// Entitlements are the quotas of a plan (docs/spec/limits.md#quotas-of-plans). The tags have the public name of each,
// which is its configuration key below plans.<code> too, its description, and the meaning of zero if zero is allowed.
//
// Durations of mailboxes and messages are in the plan because they decide what is stored; rates of keys because a paid
// plan is sold with them. Fields without the tag zero must be above zero.
type Entitlements struct {
	TTLDefault        time.Duration   `key:"mailbox.ttl.default" help:"lifetime of a new mailbox when none is asked for"`
	TTLMax            time.Duration   `key:"mailbox.ttl.max" help:"longest lifetime that can be asked for at once"`
	LifetimeMax       time.Duration   `key:"mailbox.lifetime.max" help:"longest a mailbox can live with every extension, from its creation" zero:"no maximum"`
	MailboxesMax      int             `key:"mailboxes.max" help:"mailboxes alive at once, of an account or of a guest session"`
	DailyMailMax      int             `key:"mail.daily.max" help:"mails taken in a UTC day, of an account or of a guest's mailbox"`
	RawRetention      time.Duration   `key:"raw.retention" help:"how long the raw message is kept"`
	DomainsMax        int             `key:"domains.max" help:"private domains" zero:"none"`
	ProjectsMax       int             `key:"projects.max" help:"projects" zero:"none"`
	FiltersMax        int             `key:"filters.max" help:"extraction filters" zero:"none"`
	WebhooksMax       int             `key:"webhooks.max" help:"webhook endpoints" zero:"none"`
	KeysMax           int             `key:"keys.max" help:"developer keys" zero:"none"`
	KeysMailboxCreate ratelimit.Limit `key:"keys.mailbox_create" help:"rate of mailbox creation with one developer key"`
	KeysCalls         ratelimit.Limit `key:"keys.calls" help:"rate of calls with one developer key"`
}

// All yields every entitlement's public name and value in the order of the fields. A value is an int64 (a count, or
// whole seconds), a string (a rate as in the configuration) or nil (no maximum). This is the form of the API, GET
// /plans.
func (e Entitlements) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		fields := reflect.TypeFor[Entitlements]()
		for i := range fields.NumField() {
			name := fields.Field(i).Tag.Get("key")
			if !yield(name, public(name, reflect.ValueOf(e).Field(i).Interface())) {
				return
			}
		}
	}
}

// public returns an entitlement's value in the form of the API. Of the durations only mailbox.lifetime.max can be
// unlimited, so only there does zero mean that.
func public(name string, value any) any {
	switch v := value.(type) {
	case time.Duration:
		if v == 0 && name == "mailbox.lifetime.max" {
			return nil
		}
		return int64(v / time.Second)
	case ratelimit.Limit:
		return v.String()
	case int:
		return int64(v)
	}
	return value
}
