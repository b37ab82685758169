package filter

// Fair is for the test of a property.
func Fair(needs []int, budget int) int { return fair(needs, budget) }
