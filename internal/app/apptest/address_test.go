package apptest

import "testing"

// A service started with two addresses that are the same ends at once.
func TestFreeAddressReturnsNoneTwice(t *testing.T) {
	seen := make(map[string]bool)
	for range 500 {
		address := FreeAddress(t)
		if seen[address] {
			t.Fatalf("FreeAddress returned %s twice, want each address once", address)
		}
		seen[address] = true
	}
}
