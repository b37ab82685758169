package domain

// Claimable returns the name that Claim would store for the requested one.
func Claimable(s *Service, requested string) (string, error) { return s.checkClaimable(requested) }

// Lookups are the statements of the mail path and of the re-check, with their arguments.
func Lookups() map[string][]any {
	return map[string][]any{
		selectHolder: {"shop.dev"}, selectNames + "($1,$2)": {"shop.dev", "eu.shop.dev"},
		selectDue: {1, 2}, selectDeleting: nil, selectPage: {"acc_x", "~", 10}, selectByName: {"acc_x", "shop.dev"},
	}
}
