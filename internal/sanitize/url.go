package sanitize

import "strings"

// maxAddress is the longest link or image address kept, in bytes.
const maxAddress = 8 << 10

// mailHref keeps absolute web addresses, mailto: and tel:. Relative ones and fragments have no target.
func mailHref(v string) (string, bool) {
	v, ok := tidyAddress(v)
	if !ok {
		return "", false
	}
	switch scheme, rest, _ := strings.Cut(v, ":"); strings.ToLower(scheme) {
	case "mailto", "tel":
		return strings.ToLower(scheme) + ":" + rest, rest != ""
	}
	return webAddress(v)
}

// noticeHref keeps paths within the site as well.
func noticeHref(v string) (string, bool) {
	if t, ok := tidyAddress(v); ok && strings.HasPrefix(t, "/") && !strings.HasPrefix(t, "//") && !strings.Contains(t, `\`) {
		return t, true
	}
	return mailHref(v)
}

// tidyAddress removes what browsers remove from an address before they read it (URL Standard §4.4): white space and
// control characters around it, tabs and line ends within. An address that is still ambiguous is rejected.
func tidyAddress(v string) (string, bool) {
	v = strings.TrimFunc(v, func(r rune) bool { return r <= ' ' })
	if strings.ContainsAny(v, "\t\n\r") {
		v = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(v)
	}
	if v == "" {
		return "", false
	}
	for i := range len(v) {
		if v[i] < ' ' || v[i] == 0x7f {
			return "", false
		}
	}
	v = strings.ReplaceAll(v, " ", "%20")
	return v, len(v) <= maxAddress-len("https:")
}

// webAddress keeps http and https with a host. An address without a scheme but with a host is taken for https.
func webAddress(v string) (string, bool) {
	if strings.HasPrefix(v, "//") {
		v = "https:" + v
	}
	scheme, rest, ok := strings.Cut(v, "://")
	lower := strings.ToLower(scheme)
	if !ok || lower != "http" && lower != "https" || rest == "" || strings.IndexByte(`/\?#`, rest[0]) >= 0 {
		return "", false
	}
	if scheme == lower {
		return v, true
	}
	return lower + "://" + rest, true
}
