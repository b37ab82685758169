package filter

// Fair is fair.
func Fair(needs []int, budget int) int { return fair(needs, budget) }
