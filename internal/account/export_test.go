package account

// The parts that the tests look at from outside.
var (
	ParseEmail  = parseEmail
	ParseLocale = parseLocale
	PlainCode   = plainCode
	Truncated   = truncated
	HOTP        = hotp
)

// ReparsePHC reads a PHC string and writes it again.
func ReparsePHC(text string) (string, Cost, error) {
	h, err := parsePHC(text)
	return h.String(), h.cost, err
}

// OnDerive has fn called with the cost of each hash computation, while its place in the gate is held.
func (s *Service) OnDerive(fn func(Cost)) {
	derive := s.passwords.derive
	s.passwords.derive = func(password, salt []byte, c Cost, n int) []byte {
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

// RoomMax and Room let a test look at the bound on the memory of hashes alone.
const RoomMax = roomMax

// Room is room.
type Room = room

// NewRoom is newRoom with a collector of the test's.
func NewRoom(collect func()) *Room { return &room{collect: collect} }

// Enter is enter.
func (r *room) Enter(kib int64) (leave func()) { return r.enter(kib) }
