package mailparse

import (
	"strings"
	"time"
)

// parseDate parses a Date field (RFC 5322 §3.3, §4.3) and what is sent in its place: no weekday, no zone (read as
// UTC), full month names, two-digit years, ISO 8601, the asctime order. It returns zero for text that is no date.
func parseDate(s string) time.Time {
	d := date{}
	for s = trimLeft(uncomment(s), blank|comma); s != ""; s = trimLeft(s, blank|comma) {
		token := s
		if i := indexOf(s, blank|comma); i >= 0 {
			token = s[:i]
		}
		if len(token) > maxDateWord || !d.token(token) {
			return time.Time{}
		}
		s = s[len(token):]
	}
	return d.time()
}

// maxDateWord is how long a word of a date may be.
const maxDateWord = 40

// date collects what the words of a date say. Its methods return false for a word that no date contains.
type date struct {
	year, month, day     int
	hour, minute, second int
	offset               int // seconds east of UTC
	clock, hasYear       bool
}

// token reads one word.
func (d *date) token(s string) bool {
	if i := strings.IndexByte(s, 'T'); i >= 8 && strings.IndexByte(s, ':') > i { // ISO 8601
		return d.token(s[:i]) && d.timeOfDay(s[i+1:])
	}
	switch {
	case strings.IndexByte(s, ':') > 0 && !d.clock:
		return d.timeOfDay(s)
	case s[0] == '+' || s[0] == '-':
		return d.zone(s)
	case strings.IndexByte(s, '-') > 0 && d.day == 0:
		for piece := range strings.SplitSeq(s, "-") {
			if piece == "" || !d.token(piece) {
				return false
			}
		}
		return true
	case '0' <= s[0] && s[0] <= '9':
		return d.number(s)
	}
	return d.word(s)
}

// number reads a day or a year; after a four-digit year, as in ISO 8601, the month and then the day.
func (d *date) number(s string) bool {
	s = strings.TrimRight(s, ".stndrh") // 1st, 2nd, 3., 4th
	n, digits := leadingInt(s)
	if digits != len(s) {
		return false
	}
	switch {
	case digits >= 3 && !d.hasYear:
		if digits == 3 { // RFC 5322 §4.3
			n += 1900
		}
		d.year, d.hasYear = n, digits <= 4
		return d.hasYear
	case digits > 2:
		return false
	case d.hasYear && d.month == 0:
		d.month = n
		return 1 <= n && n <= 12
	case d.day == 0:
		d.day = n
		return 1 <= n && n <= 31
	case !d.hasYear:
		if n < 50 {
			n += 100
		}
		d.year, d.hasYear = 1900+n, true
		return true
	}
	return false
}

// timeOfDay reads hours, minutes and seconds, and a zone that nothing separates from them.
func (d *date) timeOfDay(s string) bool {
	var n [3]int
	for i := range n {
		v, digits := leadingInt(s)
		if digits < 1 || digits > 2 {
			return false
		}
		n[i] = v
		s = s[digits:]
		if i == 2 || s == "" || s[0] != ':' {
			break
		}
		s = s[1:]
	}
	d.hour, d.minute, d.second, d.clock = n[0], n[1], min(n[2], 59), true // a leap second is no time.Time
	if d.hour > 23 || d.minute > 59 || n[2] > 60 {
		return false
	}
	if strings.HasPrefix(s, ".") {
		_, digits := leadingInt(s[1:])
		s = s[1+digits:]
	}
	switch {
	case s == "":
		return true
	case s[0] == '+' || s[0] == '-':
		return d.zone(s)
	}
	return d.word(s)
}

// zone reads +hhmm and +hh:mm. An impossible one is read as UTC, as RFC 5322 §4.3 says of unknown zones.
func (d *date) zone(s string) bool {
	sign := 1
	if s[0] == '-' {
		sign = -1
	}
	digits := strings.ReplaceAll(s[1:], ":", "")
	n, count := leadingInt(digits)
	if count == 2 {
		n, count = n*100, 4
	}
	if count == 4 && n/100 <= 14 && n%100 <= 59 {
		d.offset = sign * (n/100*3600 + n%100*60)
	}
	return true
}

// word reads the name of a month, a zone or a weekday, and am and pm.
func (d *date) word(text string) bool {
	var lower [maxDateWord]byte
	for i := range copy(lower[:], text) {
		if c := text[i]; 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	s := string(lower[:min(len(text), len(lower))])
	if (strings.HasPrefix(s, "gmt") || strings.HasPrefix(s, "utc")) && len(s) > 3 {
		return d.zone(s[3:])
	}
	switch s {
	case "pm":
		if d.hour < 12 {
			d.hour += 12
		}
		return true
	case "am":
		d.hour %= 12
		return true
	case "edt":
		d.offset = -4 * 3600
	case "est", "cdt":
		d.offset = -5 * 3600
	case "cst", "mdt":
		d.offset = -6 * 3600
	case "mst", "pdt":
		d.offset = -7 * 3600
	case "pst":
		d.offset = -8 * 3600
	case "cet":
		d.offset = 3600
	case "cest":
		d.offset = 2 * 3600
	case "jst":
		d.offset = 9 * 3600
	}
	const months = "janfebmaraprmayjunjulaugsepoctnovdec"
	if len(s) >= 3 && d.month == 0 {
		if i := strings.Index(months, s[:3]); i >= 0 && i%3 == 0 {
			d.month = i/3 + 1
		}
	}
	return true
}

// time returns the time, zero if a part is missing or impossible.
func (d *date) time() time.Time {
	if !d.hasYear || d.month == 0 || d.day == 0 || d.year < 1900 || d.year > 9999 {
		return time.Time{}
	}
	t := time.Date(d.year, time.Month(d.month), d.day, d.hour, d.minute, d.second, 0, time.UTC)
	if t.Day() != d.day { // 31 February
		return time.Time{}
	}
	return t.Add(-time.Duration(d.offset) * time.Second)
}

// leadingInt reads the digits at the front of s, at most six of them.
func leadingInt(s string) (n, digits int) {
	for digits < len(s) && digits < 6 && '0' <= s[digits] && s[digits] <= '9' {
		n = n*10 + int(s[digits]-'0')
		digits++
	}
	return n, digits
}

// uncomment removes the comments of a structured field (RFC 5322 §3.2.2). One that nothing closes extends to the end.
func uncomment(s string) string {
	if strings.IndexByte(s, '(') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	depth := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case depth == 0:
			out = append(out, c)
		}
	}
	return string(out)
}
