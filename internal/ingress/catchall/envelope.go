package catchall

import (
	"bytes"
	"strings"
)

// headerMax is how many octets of a message are searched for its header fields.
const headerMax = 256 << 10

// envelopeOf returns the envelope of a message as the server has recorded it in header fields: the reverse-path of Return-Path, and the
// recipients of the first of X-Original-To, Envelope-To and Delivered-To that names one for whom mail is taken here. A server that delivers
// into a catch-all mailbox may name that mailbox in one of them, and the original recipient in another. The topmost field counts, since
// servers add fields on top of what the sender wrote; of Delivered-To, which is added at each delivery, each does.
func envelopeOf(message []byte, served func(address string) bool) (from string, to []string) {
	fields := header(message)
	if paths := fields["return-path"]; len(paths) > 0 {
		from = strings.Trim(paths[0], "<> ")
	}
	var first []string
	for _, name := range []string{"x-original-to", "envelope-to", "delivered-to"} {
		values := fields[name]
		if name != "delivered-to" {
			values = values[:min(len(values), 1)]
		}
		for _, value := range values {
			all := addresses(value)
			if first == nil {
				first = all
			}
			if here := keep(all, served); len(here) > 0 {
				return from, here
			}
		}
	}
	return from, first
}

// keep returns the addresses for which mail is taken here.
func keep(all []string, served func(string) bool) (here []string) {
	for _, address := range all {
		if served(address) {
			here = append(here, address)
		}
	}
	return here
}

// addresses splits a field with one address or several.
func addresses(value string) (all []string) {
	for part := range strings.SplitSeq(value, ",") {
		if address := strings.Trim(part, "<> \t"); strings.Contains(address, "@") {
			all = append(all, address)
		}
	}
	return all
}

// header returns the unfolded fields of a message that envelopeOf uses, by their names in lower case, from top to bottom.
func header(message []byte) map[string][]string {
	fields, last := map[string][]string{}, ""
	message = message[:min(len(message), headerMax)]
	for len(message) > 0 {
		var line []byte
		line, message, _ = bytes.Cut(message, []byte("\n"))
		line = bytes.TrimRight(line, "\r")
		switch name, value, ok := strings.Cut(string(line), ":"); {
		case len(line) == 0:
			return fields
		case line[0] == ' ' || line[0] == '\t':
			if all := fields[last]; len(all) > 0 {
				all[len(all)-1] += " " + strings.TrimSpace(string(line))
			}
		case ok:
			last = strings.ToLower(strings.TrimSpace(name))
			switch last {
			case "return-path", "x-original-to", "envelope-to", "delivered-to":
				fields[last] = append(fields[last], strings.TrimSpace(value))
			}
		default:
			last = "" // such as the line From of an mbox
		}
	}
	return fields
}
