// Package dialogtest plays SMTP dialogs that are written as text (test/dialogs/README.md has the format) against any
// server. It does not depend on the server: a Dialog lists what must have been delivered at its end, which the test
// checks.
//
// Sources splits files into dialogs, Source.Dialog reads one of them, and Player.Play connects to a server, sends what the
// dialog says and compares the replies. An error names the file and the line.
package dialogtest

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Source is the text of a dialog, whose variables are not replaced yet.
type Source struct {
	Name string // the file's name without directory and extension, a slash, and the dialog's heading
	Text string // the lines below the heading
	line int    // the heading's line in the file, from 1; 0 for a text without a file
}

// Dialog is a conversation with a server.
type Dialog struct {
	Name      string            // of its Source
	Config    map[string]string // what the server must be set up with
	Accept    map[string]string // by address, the problem code that RCPT must meet
	Deliver   string            // the problem code that delivery must meet; "" for none
	Delivered []Delivery        // what must have been delivered at the end, in order
	fake      bool              // needs a server that takes mail for any address
	steps     []step
}

// Delivery is a message that must have been delivered.
type Delivery struct {
	From string   // the reverse-path without brackets
	To   []string // the recipients without brackets
	With string   // the protocol as in the "with" clause of Received; "" if it does not matter
	Data string   // exactly these octets
}

// Portable reports whether the dialog needs no server set up for it, so that a running service can be the other side.
func (d *Dialog) Portable() bool {
	return !d.fake && len(d.Config) == 0 && len(d.Accept) == 0 && d.Deliver == ""
}

// action is what a step does.
type action int

const (
	send        action = iota // octets
	expectLine                // one line of a reply that matches the pattern
	expectReply               // a whole reply, whose last line matches the pattern
	expectEnd                 // the server closes the connection
	startTLS                  // the client's side of a handshake that succeeds
	failTLS                   // one that fails
	connect                   // another connection, used from now on
	use                       // an earlier connection, used from now on
	hangUp                    // the client closes the connection
)

// step is one line of a dialog.
type step struct {
	line   int // in the file
	action action
	text   string // pattern or name
	octets []byte
}

// Sources returns the dialogs of the files that match a pattern of path/filepath, in the order of the names and then of
// the lines. It is an error if there are none, or two of the same name.
func Sources(pattern string) ([]Source, error) {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("find dialogs: %w", err)
	}
	var all []Source
	names := make(map[string]bool)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read dialogs: %w", err)
		}
		sources, err := split(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), string(text))
		if err != nil {
			return nil, err
		}
		for _, s := range sources {
			if names[s.Name] {
				return nil, fmt.Errorf("there are two dialogs %s", s.Name)
			}
			names[s.Name] = true
		}
		all = append(all, sources...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no dialogs match %q", pattern)
	}
	return all, nil
}

// split returns the dialogs of a file. Each begins with a line "== heading".
func split(file, text string) ([]Source, error) {
	var all []Source
	n := 0
	for line := range strings.Lines(text) {
		n++
		heading, found := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "== ")
		switch {
		case found:
			all = append(all, Source{Name: file + "/" + heading, line: n})
		case len(all) > 0:
			all[len(all)-1].Text += line
		case strings.TrimSpace(line) != "":
			return nil, fmt.Errorf("%s:%d: a line before the first heading", file, n)
		}
	}
	return all, nil
}

// Dialog reads the dialog. Every ${name} in it stands for the variable of that name. An error names the line.
func (s Source) Dialog(variables map[string]string) (*Dialog, error) {
	d := &Dialog{Name: s.Name, Config: make(map[string]string), Accept: make(map[string]string)}
	lines := bufio.NewScanner(strings.NewReader(s.Text))
	for n := s.line + 1; lines.Scan(); n++ {
		line, err := expand(lines.Text(), variables)
		if err == nil {
			err = d.add(n, line)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", s.Name, n, err)
		}
	}
	return d, lines.Err()
}

// expand replaces the variables.
func expand(line string, variables map[string]string) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(line, "${")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}")
		value, known := variables[name]
		if !closed || !known {
			return "", fmt.Errorf("no variable ${%s}", name)
		}
		b.WriteString(value)
		line = after
	}
}

// add reads one line of the file.
func (d *Dialog) add(n int, line string) error {
	if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	word, rest, _ := strings.Cut(line, " ")
	st := step{line: n, text: strings.TrimSpace(rest)}
	var err error
	switch word {
	case "@fake":
		d.fake = true
		return nil
	case "@config", "@accept", "@deliver", "@delivered":
		return d.direct(word, st.text)
	case "C:":
		st.action, st.octets = send, []byte(rest+"\r\n")
	case "C-raw:":
		st.action = send
		st.octets, err = octets(rest)
	case "S:":
		st.action = expectLine
	case "S-reply:":
		st.action = expectReply
	case "S-closed":
		st.action = expectEnd
	case "C-tls":
		st.action = startTLS
	case "C-tls-fails":
		st.action = failTLS
	case "C-closes":
		st.action = hangUp
	case "@connect":
		st.action = connect
	case "@use":
		st.action = use
	default:
		return fmt.Errorf("no such line: %q", word)
	}
	d.steps = append(d.steps, st)
	return err
}

// direct reads a directive.
func (d *Dialog) direct(word, text string) error {
	switch word {
	case "@config":
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return fmt.Errorf("@config %q is not key=value", text)
		}
		d.Config[key] = value
	case "@accept":
		address, code, ok := strings.Cut(text, " ")
		if !ok {
			return fmt.Errorf("@accept %q is not an address and a code", text)
		}
		d.Accept[address] = code
	case "@deliver":
		d.Deliver = text
	default:
		delivery, err := parseDelivery(text)
		d.Delivered = append(d.Delivered, delivery)
		return err
	}
	return nil
}

// parseDelivery reads "from=<a> to=<b>,<c> with=ESMTP" and the octets.
func parseDelivery(text string) (v Delivery, err error) {
	for {
		key, rest, ok := strings.Cut(text, "=")
		if !ok || strings.HasPrefix(text, `"`) {
			break
		}
		value, after, _ := strings.Cut(rest, " ")
		switch key {
		case "from":
			v.From = unbracket(value)
		case "to":
			for to := range strings.SplitSeq(value, ",") {
				v.To = append(v.To, unbracket(to))
			}
		case "with":
			v.With = value
		default:
			return v, fmt.Errorf("@delivered has no %q", key)
		}
		text = after
	}
	data, err := octets(text)
	v.Data = string(data)
	return v, err
}

func unbracket(path string) string {
	return strings.TrimSuffix(strings.TrimPrefix(path, "<"), ">")
}
