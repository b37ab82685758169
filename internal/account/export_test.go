package account

// Internals for the tests.
var (
	ParseEmail    = parseEmail
	ParseLocale   = parseLocale
	NormalizeCode = normalizeCode
	Truncated     = truncated
	HOTP          = hotp
)

// ReparsePHC parses a PHC string and formats it again.
func ReparsePHC(text string) (string, Cost, error) {
	h, err := parsePHC(text)
	return h.String(), h.cost, err
}

// OnDerive calls fn with the cost of each hash, while its slot is running.
func (s *Service) OnDerive(fn func(Cost)) { s.passwords.onDerive(fn) }

// OnDerive calls fn with the cost of each hash, while its slot is running.
func (r *Registry) OnDerive(fn func(Cost)) { r.passwords.onDerive(fn) }

func (p *passwords) onDerive(fn func(Cost)) {
	derive := p.derive
	p.derive = func(password, salt []byte, c Cost, n int) []byte {
		fn(c)
		return derive(password, salt, c, n)
	}
}

// Gate returns how many hashes may be computed at once, how many slots there are, and how many one client may hold.
func (s *Service) Gate() (cores, slots, perClient int) {
	g := s.passwords.gate
	return cap(g.cores), g.max, g.clientMax
}

// Reserved returns how many slots are held now, and by how many clients.
func (s *Service) Reserved() (slots, clients int) {
	g := s.passwords.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.total, len(g.client)
}

// HashMemoryTotal is the bound of a HashMemory.
const HashMemoryTotal = hashMemoryTotal

// HashMemory bounds the memory of hashes.
type HashMemory = hashMemory

// NewHashMemory returns a HashMemory with the test's own collector.
func NewHashMemory(collect func()) *HashMemory { return &hashMemory{collect: collect} }

// Acquire is acquire.
func (m *hashMemory) Acquire(kib int64) (release func()) { return m.acquire(kib) }
