package mailauth

import (
	"strings"
	"unicode"
)

// Header returns the value of the Authentication-Results field (RFC 8601 §2.2) for r, without the field's name and the
// final line end, folded before each method. Its properties are smtp.mailfrom or smtp.helo, header.d and header.from.
func (c *Checker) Header(r Result) string {
	var b strings.Builder
	b.Grow(256)
	b.WriteString(c.hostname)
	if r.MailFrom != "" {
		result(&b, "spf", r.SPF, "smtp.mailfrom", r.MailFrom)
	} else {
		result(&b, "spf", r.SPF, "smtp.helo", r.Helo)
	}
	for _, s := range r.Signatures {
		result(&b, "dkim", s.Verdict, "header.d", s.Domain)
	}
	if len(r.Signatures) == 0 {
		result(&b, "dkim", r.DKIM, "", "")
	}
	result(&b, "dmarc", r.DMARC, "header.from", r.FromDomain)
	return b.String()
}

// result appends one method with its verdict, and a property unless value is empty.
func result(b *strings.Builder, method string, v Verdict, property, value string) {
	for _, text := range [...]string{";\r\n\t", method, "=", string(v)} {
		b.WriteString(text)
	}
	if value != "" {
		for _, text := range [...]string{" ", property, "=", pvalue(value)} {
			b.WriteString(text)
		}
	}
}

// maxValue bounds a property, so that no line comes near the 998 characters of RFC 5322 §2.1.1.
const maxValue = 320

// pvalue returns a property's value: bare if every reader understands that, otherwise as a quoted string. It comes
// from the sender, so control characters, which could end the line and begin another field, are removed.
func pvalue(s string) string {
	if bare(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s)
	if len(s) > maxValue {
		s = strings.ToValidUTF8(s[:maxValue], "")
	}
	if bare(s) {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// bare reports whether a property's value needs no quotes.
func bare(s string) bool { return s != "" && len(s) <= maxValue && plain(s, ".@+") }
