package diagnosis

import "strings"

// isAddress reports whether a text is a whole address rather than a part of one.
func isAddress(text string) bool {
	at := strings.LastIndexByte(text, '@')
	return at > 0 && at < len(text)-1 && len(text) <= addressMax && !strings.ContainsAny(text, " <>,")
}

// addressMax is the longest address that is compared, in octets.
const addressMax = 320

// untagged returns an address in lower case without the tag in its local part.
func untagged(address string) string {
	local, domain := cutAddress(strings.ToLower(address))
	if tag := strings.IndexByte(local, '+'); tag > 0 {
		local = local[:tag]
	}
	return local + "@" + domain
}

func cutAddress(address string) (local, domain string) {
	at := strings.LastIndexByte(address, '@')
	return address[:max(at, 0)], address[at+1:]
}

// isSimilar reports whether a recipient may be a misspelling of an address: it differs by one or two letters, or has the same
// local part at another domain. Tags and case do not count. The same address is not similar.
func isSimilar(recipient, wanted string) bool {
	if !isAddress(recipient) || !isAddress(wanted) {
		return false
	}
	a, b := untagged(recipient), untagged(wanted)
	localA, _ := cutAddress(a)
	localB, _ := cutAddress(b)
	return a != b && (localA == localB || differByTwo([]rune(a), []rune(b)))
}

// differByTwo reports whether a becomes b by inserting, deleting or replacing at most two characters. It computes only the
// diagonals of the edit distance that can be within two.
func differByTwo(a, b []rune) bool {
	const most = 2
	const width = 2*most + 1
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return false
	}
	// row[d] is the distance of the first i characters of a and the first i+d-most of b; more than most: too far.
	var row [width]int
	for d := range row {
		row[d] = most + 1
		if d >= most {
			row[d] = d - most
		}
	}
	for i := 1; i <= len(a); i++ {
		var next [width]int
		for d := range next {
			j := i + d - most
			next[d] = most + 1
			if j < 0 || j > len(b) {
				continue
			}
			if j > 0 {
				same := 1
				if a[i-1] == b[j-1] {
					same = 0
				}
				next[d] = row[d] + same
			}
			if d+1 < width {
				next[d] = min(next[d], row[d+1]+1) //nolint:gosec // d+1 is less than width
			}
			if d > 0 {
				next[d] = min(next[d], next[d-1]+1) //nolint:gosec // d-1 is at least 0
			}
		}
		row = next
	}
	return row[len(b)-len(a)+most] <= most
}
