package ingress

import "bytes"

// canonical returns a message with each line ended by CRLF. Some providers hand on messages with line feeds alone, as files have them:
// there is no dialog into which another message could be smuggled by them. Carriage returns without a line feed stay, and are refused as
// over SMTP.
func canonical(data []byte) []byte {
	bare := bytes.Count(data, []byte("\n")) - bytes.Count(data, []byte("\r\n"))
	if bare == 0 {
		return data
	}
	whole := make([]byte, 0, len(data)+bare)
	for len(data) > 0 {
		before, after, ok := bytes.Cut(data, []byte{'\n'})
		if !ok {
			return append(whole, data...)
		}
		whole = append(whole, bytes.TrimSuffix(before, []byte("\r"))...)
		whole, data = append(whole, "\r\n"...), after
	}
	return whole
}
