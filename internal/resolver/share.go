package resolver

import (
	"strings"
	"sync"

	"golang.org/x/net/publicsuffix"
)

// shares counts the queries in progress by the domain they are about, so that the names of one domain, whose owner may
// let them go unanswered, do not take the place of all others. A count is there only while it is not 0.
type shares struct {
	mu     sync.Mutex
	counts map[string]int
	most   int // for one domain; 0: no bound
}

// take counts a query unless its domain has as many as it may have. After true, give must be called with the domain.
func (s *shares) take(name string) (domain string, ok bool) {
	if s.most == 0 {
		return "", true
	}
	domain = strings.TrimSuffix(name, ".")
	if registered, err := publicsuffix.EffectiveTLDPlusOne(domain); err == nil {
		domain = registered
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts[domain] >= s.most {
		return "", false
	}
	s.counts[domain]++
	return domain, true
}

// give ends a query that take has counted.
func (s *shares) give(domain string) {
	if s.most == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts[domain]--; s.counts[domain] == 0 {
		delete(s.counts, domain)
	}
}
