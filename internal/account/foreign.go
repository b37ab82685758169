package account

import "context"

// HashPassword returns the PHC string of a password that is not an account's, such as that of a mailbox. It waits for
// the slot's turn and releases the slot. The gate and the bound of memory are shared with accounts. The error is the
// cause of ctx. The length is not checked.
func (s *Service) HashPassword(ctx context.Context, slot *HashSlot, password string) (string, error) {
	return s.passwords.hash(ctx, slot, password)
}

// CheckPassword reports whether a password matches what HashPassword returned. If stored is "", it does the same work
// and reports false. It waits for the slot's turn and releases the slot. The error is the cause of ctx, or that of a
// stored text that is not a PHC string.
func (s *Service) CheckPassword(ctx context.Context, slot *HashSlot, stored, password string) (bool, error) {
	right, _, err := s.passwords.check(ctx, slot, stored, password)
	return right, err
}
