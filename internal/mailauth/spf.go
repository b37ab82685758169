package mailauth

import (
	"context"

	"github.com/gonebox/gonebox/internal/mailauth/spf"
)

// checkSPF evaluates SPF for a mail. Mail of which the client is not known has none.
func checkSPF(ctx context.Context, dns Resolver, in Input, id identities) Verdict {
	if !isPublic(id.spf) || !in.RemoteIP.IsValid() || in.RemoteIP.IsUnspecified() {
		return None
	}
	return Verdict(spf.Check(ctx, dns, spf.Query{IP: in.RemoteIP, Helo: in.Helo, Local: id.local, Domain: id.spf}))
}
