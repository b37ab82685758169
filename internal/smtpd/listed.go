package smtpd

import "net/netip"

// blocklistLookup is a look-up of a client in DNS blocklists, which runs in the background.
type blocklistLookup struct {
	client netip.Addr    // the client that is looked up; the zero Addr: no look-up was started
	zone   func() string // waits for the result: the name of a list, or "" if the client is not listed
}

// lookUpClient starts looking the client up in blocklists, unless the current look-up is already for its address. EHLO calls it, so that
// RCPT rarely has to wait; RCPT calls it in case XFORWARD has named another client since. A relay that names no client is not looked up.
func (s *session) lookUpClient() {
	if s.unlimited || s.project != nil { // a client that has a password may use any network
		s.lookup = blocklistLookup{}
	}
	if s.srv.cfg.Listed == nil || s.unlimited || s.project != nil || s.isAnonymous() || s.lookup.client == s.ip {
		return
	}
	s.lookup = blocklistLookup{client: s.ip, zone: s.srv.cfg.Listed(s.base, s.ip)}
}

// listedReply returns the reply to RCPT if a blocklist lists the client, otherwise "". It waits for the look-up.
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
