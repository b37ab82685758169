package message

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// appendJSON appends what json.Marshal makes of the summary, but for how texts are escaped. It is done for every mail
// and every recipient, while others wait to write.
func (s *stored) appendJSON(b []byte) []byte {
	b = appendAddress(append(b, `{"from":`...), s.From)
	b = appendList(append(b, `,"to":`...), s.To, appendAddress)
	b = appendText(append(b, `,"subject":`...), s.Subject)
	b = appendText(append(b, `,"preview":`...), s.Preview)
	if s.SentAt != 0 {
		b = strconv.AppendInt(append(b, `,"sentAt":`...), s.SentAt, 10)
	}
	if s.HasAttachments {
		b = append(b, `,"hasAttachments":true`...)
	}
	if s.OTP != nil {
		b = s.OTP.appendJSON(append(b, `,"otp":`...))
	}
	b = appendList(append(b, `,"envelopeTo":`...), s.EnvelopeTo, appendText)
	return append(b, '}')
}

func (o *storedOTP) appendJSON(b []byte) []byte {
	b = appendText(append(b, `{"code":`...), o.Code)
	b = appendText(append(b, `,"display":`...), o.Display)
	b = strconv.AppendFloat(append(b, `,"confidence":`...), o.Confidence, 'f', -1, 64)
	b = appendText(append(b, `,"source":`...), o.Source)
	if o.FilterID != nil {
		b = appendText(append(b, `,"filterId":`...), *o.FilterID)
	}
	b = appendText(append(b, `,"kind":`...), o.Kind)
	if len(o.Links) > 0 {
		b = appendList(append(b, `,"links":`...), o.Links, appendText)
	}
	return append(b, '}')
}

func appendAddress(b []byte, a Address) []byte {
	b = appendText(append(b, `{"name":`...), a.Name)
	b = appendText(append(b, `,"address":`...), a.Address)
	return append(b, '}')
}

func appendList[T any](b []byte, all []T, one func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i, v := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, v)
	}
	return append(b, ']')
}

// appendText appends a JSON string (RFC 8259 §7). What has something to escape is left to the library.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == '"' || s[i] == '\\' {
			return appendEscaped(b, s)
		}
	}
	if !utf8.ValidString(s) {
		return appendEscaped(b, s)
	}
	return append(append(append(b, '"'), s...), '"')
}

func appendEscaped(b []byte, s string) []byte {
	text, _ := json.Marshal(s) // a string never fails
	return append(b, text...)
}
