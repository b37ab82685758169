package otp

import "strings"

// What the address of a link gives to its rank, each word of it up to mostInAddress.
const (
	saidInAddress = 4
	mostInAddress = 2
	badInAddress  = -16
	socialAddress = -8
)

// maxRanked is how much of an address is looked at.
const maxRanked = 512

// isUnwanted reports whether an address will not be given, judged by what it has for
// itself. It may be escaped: the name of the ampersand makes no word.
func isUnwanted(url string, rank int) bool {
	_, path := hostPath(url)
	return len(url) <= maxRanked && rank+saidInAddress*countWords(path)+saidInSubject < wanted
}

// countWords counts the words of an address that count. Those who write are no "auth".
func countWords(path string) int {
	n := wantedWords.count(path)
	if n > 0 {
		if i := strings.Index(path, "author"); i >= 0 && !strings.HasPrefix(path[i:], "authori") {
			n--
		}
	}
	return min(n, mostInAddress)
}

// hostPath gives the host of an address and what follows its slash.
func hostPath(url string) (host, path string) {
	_, rest, _ := strings.Cut(url, "://")
	host, path, _ = strings.Cut(rest, "/")
	return host, path
}

// IsFrontPage reports whether an address of the web leads to the front page of a site: it has neither a path, but for
// the slash, nor a query or a fragment.
func IsFrontPage(url string) bool {
	host, path := hostPath(url)
	return path == "" && !strings.ContainsAny(host, "?#")
}

// rankURL adds to the rank of a link's words what the address itself says. Most
// links of a mail are not wanted, and it stops as soon as that is sure.
func rankURL(url string, rank int) int {
	url = url[:min(len(url), maxRanked)]
	before := rank
	_, path := hostPath(url)
	if rank += saidInAddress * countWords(path); rank < wanted {
		return rank
	}
	host, path := hostPath(strings.ToLower(url))
	if isTracker(host, path) {
		return before
	}
	for _, w := range [...]string{
		"unsubscribe", "preferences", "privacy", "terms", "/help", "support", "policy", "optout", "opt-out", "not-me", "notme", "wasnt", "revoke", "secure-account", "report", "browser", "faq",
		"contact", ".png", ".gif", ".jpg", ".css", "pixel", "abuse", "invalidat", "cancel", "abort", "disavow", "decline", "reject", "deny", "logout", "log-out", "signout", "sign-out",
	} {
		if strings.Contains(path, w) {
			rank += badInAddress
		}
	}
	for _, w := range [...]string{"facebook.com", "twitter.com", "instagram.com", "linkedin.com", "youtube.com", "apps.apple.com", "play.google.com", "tiktok.com", "t.me", "w3.org"} {
		if strings.HasSuffix(host, w) && path != "" && rank-before < 2*saidInAddress {
			rank += socialAddress
		}
	}
	return rank
}

// isTracker reports whether an address is that of a tracker of clicks, in lower case. All links of
// a mail lead there, and the letters of such an address say nothing.
func isTracker(host, path string) bool {
	path, query, _ := strings.Cut(path, "?")
	for segment := range strings.SplitSeq(path, "/") {
		switch segment {
		case "click", "clicks", "clk", "ct", "cl0", "cl1", "lt", "ls", "wf", "track", "tracking", "tracker", "redir", "redirect", "trk", "e3t":
			return true
		}
	}
	if strings.HasPrefix(query, "upn=") {
		return true
	}
	label, _, _ := strings.Cut(host, ".")
	switch strings.TrimRight(label, "0123456789") {
	case "click", "clicks", "trk", "track", "tracking", "links", "ct", "email-links":
		return true
	}
	return false
}
