package mailauth

import (
	"context"
	"net"

	"blitiri.com.ar/go/spf"
)

// checkSPF evaluates check_host() of RFC 7208 §4. The library bounds the look-ups (§4.6.4: 10, of them 2 void).
func checkSPF(ctx context.Context, dns Resolver, in Input, id identities) Verdict {
	if !isPublic(id.spf) || !in.RemoteIP.IsValid() || in.RemoteIP.IsUnspecified() {
		return None
	}
	ip := net.IP(in.RemoteIP.Unmap().AsSlice())
	result, _ := spf.CheckHostWithSender(ip, in.Helo, id.sender, spf.WithContext(ctx), spf.WithResolver(dns))
	return Verdict(result)
}
