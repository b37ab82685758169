package resolver

import (
	"net"
	"os"
	"sync"
	"time"

	"github.com/miekg/dns"
)

const (
	resolvConf   = "/etc/resolv.conf"
	rereadConfig = 30 * time.Second // a machine that changes networks gets new resolvers
	maxServers   = 3                // resolv.conf(5)
)

// servers are those to ask, in order: fixed ones, or those of a resolv.conf that is read again when it has changed.
type servers struct {
	file string // empty: fixed

	mu      sync.Mutex
	list    []*server
	checked time.Time
	changed time.Time // modification time of file when it was read
}

func (s *servers) set(addrs []string) {
	s.list = nil
	for _, a := range addrs {
		s.list = append(s.list, &server{addr: a})
	}
}

func (s *servers) at(now time.Time) []*server {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != "" && (s.checked.IsZero() || now.Sub(s.checked) >= rereadConfig) {
		s.checked = now
		s.reread()
	}
	return s.list
}

func (s *servers) reread() {
	info, err := os.Stat(s.file)
	if err == nil && info.ModTime().Equal(s.changed) {
		return
	}
	conf, err := dns.ClientConfigFromFile(s.file)
	if err != nil || len(conf.Servers) == 0 {
		if s.list == nil { // resolv.conf(5): without a server, the one on this machine
			s.set([]string{"127.0.0.1:53"})
		}
		return
	}
	if info != nil {
		s.changed = info.ModTime()
	}
	addrs := conf.Servers[:min(len(conf.Servers), maxServers)]
	for i, a := range addrs {
		addrs[i] = net.JoinHostPort(a, conf.Port)
	}
	s.set(addrs)
}

// withPort adds the DNS port to an address given without one.
func withPort(addr string) string {
	if _, _, err := net.SplitHostPort(addr); err == nil {
		return addr
	}
	return net.JoinHostPort(addr, "53")
}
