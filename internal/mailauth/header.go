package mailauth

import "strings"

// Header returns the value of the Authentication-Results field (RFC 8601 §2.2) for r, without the field's name and the
// final line end, folded before each method. Its properties are smtp.mailfrom or smtp.helo; header.a, header.d and
// header.s; header.from.
//
// Nothing that the sender chose can look like a result, even to a reader that searches the field for one instead of
// parsing it: a value with any other character than those of names and addresses is cut down to its domain or left out.
func (c *Checker) Header(r Result) string {
	var b strings.Builder
	b.Grow(256)
	b.WriteString(c.hostname)
	reason := ""
	if r.SPFReason != "" {
		reason = `"` + r.SPFReason + `"`
	}
	if r.MailFrom != "" {
		result(&b, "spf", r.SPF, "reason", reason, "smtp.mailfrom", address(r.MailFrom))
	} else {
		result(&b, "spf", r.SPF, "reason", reason, "smtp.helo", host(r.Helo))
	}
	for _, s := range r.Signatures {
		result(&b, "dkim", s.Verdict, "header.a", host(s.Algorithm), "header.d", host(s.Domain), "header.s", host(s.Selector))
	}
	if len(r.Signatures) == 0 {
		result(&b, "dkim", r.DKIM)
	}
	result(&b, "dmarc", r.DMARC, "header.from", host(r.FromDomain))
	return b.String()
}

// result appends one method with its verdict, and properties, each a name and a value, unless the value is empty.
func result(b *strings.Builder, method string, v Verdict, properties ...string) {
	for _, text := range [...]string{";\r\n\t", method, "=", string(v)} {
		b.WriteString(text)
	}
	for ; len(properties) > 0; properties = properties[2:] {
		if value := properties[1]; value != "" {
			for _, text := range [...]string{" ", properties[0], "=", value} {
				b.WriteString(text)
			}
		}
	}
}

// maxValue bounds a property, so that no line comes near the 998 characters of RFC 5322 §2.1.1.
const maxValue = 320

// address returns an address as the value of a property, or only its domain if the local part is not plain, or "".
func address(s string) string {
	if len(s) <= maxValue && plain(s, ".@+") {
		return s
	}
	_, domain := splitAddress(s)
	return host(domain)
}

// host returns a domain or an address literal as the value of a property: quoted if a reader could misunderstand it bare, in
// A-label form, or "" if it is neither.
func host(s string) string {
	switch {
	case s == "" || len(s) > maxValue:
		return ""
	case plain(s, "."):
		return s
	case plain(s, ".:[]"): // the characters of address literals
		return `"` + s + `"`
	}
	return normalDomain(s)
}
