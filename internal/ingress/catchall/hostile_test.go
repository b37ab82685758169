package catchall

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-imap/v2"
)

// script is an IMAP server that answers commands by their beginnings. "$" in an answer stands for the tag of the command, and what ends in
// "…" is followed by the rest of the text again and again, until the client closes the connection. Other commands are done.
type script struct {
	capabilities string
	answers      map[string]string

	serving  sync.WaitGroup
	mu       sync.Mutex
	commands []string // without their tags
}

func (s *script) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	s.serving.Go(func() {
		defer server.Close()
		s.serve(server)
	})
	return client, nil
}

func (s *script) serve(conn net.Conn) {
	if !s.say(conn, "greeting", "*", "* OK "+s.code()+" ready\r\n") {
		return
	}
	for in := bufio.NewScanner(conn); in.Scan(); {
		tag, command, _ := strings.Cut(in.Text(), " ")
		s.mu.Lock()
		s.commands = append(s.commands, command)
		s.mu.Unlock()
		if !s.say(conn, command, tag, "$ OK "+s.code()+" done\r\n") {
			return
		}
	}
}

// code returns the response code with the capabilities.
func (s *script) code() string {
	return "[" + strings.TrimSpace("CAPABILITY IMAP4rev1 "+s.capabilities) + "]"
}

// say answers a command. It returns false when the client has closed the connection.
func (s *script) say(conn net.Conn, command, tag, otherwise string) bool {
	text := otherwise
	for beginning, answer := range s.answers {
		if strings.HasPrefix(command, beginning) {
			text = answer
		}
	}
	text, again, endless := strings.Cut(strings.ReplaceAll(text, "$", tag), "…")
	if _, err := conn.Write([]byte(text)); err != nil {
		return false
	}
	for chunk := []byte(strings.Repeat(again, 1000)); endless; {
		if _, err := conn.Write(chunk); err != nil {
			return false
		}
	}
	return true
}

// received returns the commands that change something.
func (s *script) received() (changes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, command := range s.commands {
		if !strings.HasPrefix(command, "LOGIN") && !strings.HasPrefix(command, "SELECT") {
			changes = append(changes, command)
		}
	}
	return changes
}

// newScripted returns a reader of a server's folder.
func newScripted(t *testing.T, server *script) *Reader {
	t.Helper()
	r := newReader(t, &fakeServer{}, &fakeIngress{})
	t.Cleanup(server.serving.Wait)
	r.dial = server.dial
	return r
}

// Whatever a server answers, the process goes on, and keeps little of it in memory.
func TestAnswersAreBounded(t *testing.T) {
	for name, test := range map[string]struct {
		answers  map[string]string
		messages int // that are found; -1: an error
	}{
		"an endless greeting":    {map[string]string{"greeting": "* OK …x"}, -1},
		"an endless line":        {map[string]string{"SELECT": "* OK …x"}, -1},
		"endless lines":          {map[string]string{"SELECT": "…* OK x\r\n"}, -1},
		"a literal of 4 GiB":     {map[string]string{"SELECT": "* LIST () \"/\" {4294967295}\r\n…x"}, -1},
		"endless messages":       {map[string]string{"UID SEARCH": "* SEARCH … 1"}, -1},
		"messages up to *":       {map[string]string{"UID SEARCH": "* ESEARCH (TAG \"$\") UID ALL 1:*\r\n$ OK done\r\n"}, -1},
		"message *":              {map[string]string{"UID SEARCH": "* ESEARCH (TAG \"$\") UID ALL *\r\n$ OK done\r\n"}, -1},
		"four billion messages":  {map[string]string{"UID SEARCH": "* ESEARCH (TAG \"$\") UID ALL 2:4294967295\r\n$ OK done\r\n"}, messagesMost},
		"the last message":       {map[string]string{"UID SEARCH": "* ESEARCH (TAG \"$\") UID ALL 4294967294:4294967295\r\n$ OK done\r\n"}, 2},
		"no messages":            {map[string]string{"UID SEARCH": "$ OK done\r\n"}, 0},
		"not IMAP":               {map[string]string{"greeting": "HTTP/1.1 400 Bad Request\r\n\r\n"}, -1},
		"an answer to nothing":   {map[string]string{"UID SEARCH": "* 4294967295 FETCH (UID 1 BODY[] {3}\r\nabc)\r\n$ OK done\r\n"}, 0},
		"another message's size": {map[string]string{"UID SEARCH": "* 1 EXPUNGE\r\n* 0 EXISTS\r\n$ OK done\r\n"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			server := &script{answers: test.answers}
			c, err := newScripted(t, server).connect(t.Context())
			if err != nil {
				if test.answers["UID SEARCH"] != "" {
					t.Errorf("connect(): %v, want no error before the search", err)
				}
				return
			}
			defer c.close()
			uids, err := c.search()
			if (err != nil) != (test.messages < 0) || len(uids) != max(test.messages, 0) {
				t.Errorf("search() = %d messages, %v, want %d (-1: an error)", len(uids), err, test.messages)
			}
		})
	}
	for name, answer := range map[string]string{
		"a message instead of its size": "* 1 FETCH (UID 1 BODY[] {4294967295}\r\n…x",
		"a message of another size":     "* 1 FETCH (UID 1 RFC822.SIZE 5 BODY[] {4294967295}\r\n…x",
		"endless flags":                 "* 1 FETCH (FLAGS (… x",
	} {
		c, err := newScripted(t, &script{answers: map[string]string{"UID FETCH": answer}}).connect(t.Context())
		if err != nil {
			t.Fatalf("connect(): %v", err)
		}
		if size, err := c.size(1); err == nil {
			t.Errorf("%s: size(1) = %d, want an error", name, size)
		}
		c.close()
		if c, err = newScripted(t, &script{answers: map[string]string{"UID FETCH": answer}}).connect(t.Context()); err != nil {
			t.Fatalf("connect(): %v", err)
		}
		if data, err := c.fetch(1, 1000); err == nil {
			t.Errorf("%s: fetch(1, 1000) = %d octets, want an error", name, len(data))
		}
		c.close()
	}
}

// Only what is done with is deleted, also by servers that can only delete all that is marked as deleted, and nothing that could not be copied.
func TestNothingElseIsDeleted(t *testing.T) {
	const found = "* SEARCH 3 8 9\r\n$ OK done\r\n"
	for name, test := range map[string]struct {
		capabilities, moveTo string
		answers              map[string]string
		want                 []string
		fails                bool
	}{
		"UIDPLUS": {"UIDPLUS", "", nil, []string{`UID STORE 3 +FLAGS.SILENT (\Deleted)`, "UID EXPUNGE 3"}, false},
		"no UIDPLUS": {"", "", map[string]string{"UID SEARCH": found}, []string{
			`UID STORE 3 +FLAGS.SILENT (\Deleted)`, "UID SEARCH DELETED NOT (UID 3)", `UID STORE 8:9 -FLAGS.SILENT (\Deleted)`, "EXPUNGE",
		}, false},
		"no UIDPLUS, nothing else": {"", "", nil, []string{`UID STORE 3 +FLAGS.SILENT (\Deleted)`, "UID SEARCH DELETED NOT (UID 3)", "EXPUNGE"}, false},
		"MOVE":                     {"MOVE UIDPLUS", "Done", nil, []string{`CREATE "Done"`, `UID MOVE 3 "Done"`}, false},
		"no MOVE":                  {"UIDPLUS", "Done", nil, []string{`CREATE "Done"`, `UID COPY 3 "Done"`, `UID STORE 3 +FLAGS.SILENT (\Deleted)`, "UID EXPUNGE 3"}, false},
		"no copy":                  {"UIDPLUS", "Done", map[string]string{"UID COPY": "$ NO [OVERQUOTA] full\r\n"}, []string{`CREATE "Done"`, `UID COPY 3 "Done"`}, true},
		"no mark":                  {"UIDPLUS", "", map[string]string{"UID STORE": "$ NO read-only\r\n"}, []string{`UID STORE 3 +FLAGS.SILENT (\Deleted)`}, true},
	} {
		t.Run(name, func(t *testing.T) {
			server := &script{capabilities: test.capabilities, answers: test.answers}
			r := newScripted(t, server)
			r.MoveTo = test.moveTo
			c, err := r.connect(t.Context())
			if err != nil {
				t.Fatalf("connect(): %v", err)
			}
			defer c.close()
			err = c.finish([]imap.UID{3}, test.moveTo)
			if got := server.received(); !slices.Equal(got, test.want) || (err != nil) != test.fails {
				t.Errorf("finish(3, %q) sends %q with the error %v, want %q with an error %v", test.moveTo, got, err, test.want, test.fails)
			}
		})
	}
}

// A server may use a UID again, against the rules, and a folder that is made anew may; what is another message has another identifier.
func TestMessagesAreTheirOctets(t *testing.T) {
	ids := map[string]string{}
	for _, c := range []*connection{{validity: 0}, {validity: 7}, {validity: 8}} {
		for _, text := range []string{"one", "two"} {
			id, what := c.identify(1, []byte(text)), fmt.Sprint(c.validity, text)
			if ids[id] != "" || id != c.identify(1, []byte(text)) {
				t.Errorf("identify(1, %s) with UIDVALIDITY %d = %s, want always the same, and not that of %s", text, c.validity, id, ids[id])
			}
			ids[id] = what
		}
	}
}
