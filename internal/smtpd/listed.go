package smtpd

import "net/netip"

// listing is the look-up of a client in DNS blocklists.
type blocklistLookup struct {
	client netip.Addr    // whose look-up it is; the zero Addr: none was started
	zone   func() string // waits; "" if the client is not listed
}

// lookUpClient starts looking the client up in blocklists, unless that has been done for its address. EHLO calls it, so that RCPT seldom
// waits; RCPT calls it for a client that XFORWARD has named since. A relay that names no client is not looked up.
func (s *session) lookUpClient() {
	if s.unlimited {
		s.lookup = blocklistLookup{}
	}
	if s.srv.cfg.Listed == nil || s.unlimited || s.lookup.client == s.ip {
		return
	}
	s.lookup = blocklistLookup{client: s.ip, zone: s.srv.cfg.Listed(s.base, s.ip)}
}

// listed returns the reply to RCPT for a client that a blocklist lists; "": none does.
func (s *session) listedReply() reply {
	if s.lookup.zone == nil {
		return ""
	}
	zone := s.lookup.zone()
	if zone == "" {
		return ""
	}
	return reply("554 5.7.1 Mail from your address is refused, it is listed by " + zone)
}
