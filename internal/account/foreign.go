package account

import "context"

// HashPassword returns the PHC string of a password that is not an account's, such as that of a mailbox. It waits for the slot's
// turn and releases the slot.
func (s *Service) HashPassword(ctx context.Context, slot *HashSlot, password string) (string, error) {
	return s.passwords.hash(ctx, slot, password)
}

// CheckPassword reports whether a password matches what HashPassword returned. If stored is "", it does the same work and reports
// false. It waits for the slot's turn and releases the slot.
func (s *Service) CheckPassword(ctx context.Context, slot *HashSlot, stored, password string) (bool, error) {
	right, _, err := s.passwords.check(ctx, slot, stored, password)
	return right, err
}
