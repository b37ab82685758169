package domain

// Claimable returns the name that Claim would store for the wished one.
func Claimable(s *Service, wished string) (string, error) { return s.checkClaimable(wished) }

// Lookups are the statements of the mail path and of the re-check, with their arguments.
func Lookups() map[string][]any {
	return map[string][]any{
		selectHolder: {"shop.dev"}, selectNames + "($1,$2)": {"shop.dev", "eu.shop.dev"},
		selectDue: {1, 2}, selectDeleting: nil, selectPage: {"acc_x", "~", 10}, selectByName: {"acc_x", "shop.dev"},
	}
}
