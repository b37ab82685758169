package domain

// Claimable is what Claim makes of a name.
func Claimable(s *Service, wished string) (string, error) { return s.claimable(wished) }

// Lookups are the statements of the mail path and of the schedule, with what their place-holders stand for.
func Lookups() map[string][]any {
	return map[string][]any{
		selectProven: {"shop.dev"}, selectNames + "($1,$2)": {"shop.dev", "eu.shop.dev"},
		selectDue: {1, 2}, selectEnding: nil, selectPage: {"acc_x", "~", 10}, selectByName: {"acc_x", "shop.dev"},
	}
}
