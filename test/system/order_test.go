package system_test

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// TestMailIsSyncedBefore250 traces the system calls: when the 250 to a mail's content is written to the socket,
// everything that was written for the mail, its rows and its raw message, has been synced.
func TestMailIsSyncedBefore250(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "calls")
	s := start(t, options{wrap: append([]string{need(t, "strace")}, tracing(log)...)})
	box := s.newMailbox()

	ports := make(map[string]string) // by token, the sender's port
	var mu sync.Mutex
	deliver := func(token string) {
		c := mustDial(t, s.smtp)
		_, port, _ := net.SplitHostPort(c.conn.LocalAddr().String())
		reply, err := c.send("sender@example.org", []string{box.Address}, letter(token, token))
		if err != nil || !strings.HasPrefix(reply, "250 ") {
			t.Errorf("%s: %q, %v", token, reply, err)
		}
		mu.Lock()
		defer mu.Unlock()
		ports[token] = port
	}
	deliver("alone-0") // the first of its segment, whose name in the folder has to last too
	var together sync.WaitGroup
	for i := range 8 {
		together.Go(func() { deliver(fmt.Sprintf("together-%d", i)) })
	}
	together.Wait()
	endTraced(t, s)

	all := calls(t, log)
	for token, port := range ports {
		checkOrder(t, all, token, port)
	}
	said := answered(all, ports["alone-0"])
	if !syncedBetween(all, "raw", 0, said) {
		t.Error("the folder of the raw messages was not synced before the first 250")
	}
	if !syncedBetween(all, filepath.Base(s.dir), 0, said) {
		t.Error("the data folder was not synced before the first 250")
	}
}

// endTraced ends the program below strace, which ends with it.
func endTraced(t *testing.T, s *service) {
	t.Helper()
	tracer := s.proc.cmd.Process.Pid
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", tracer, tracer))
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(child, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := s.proc.wait(t); code != 0 {
		t.Errorf("the service ended with status %d", code)
	}
}

// checkOrder finds what was written for one mail, and the syncs between that and its 250.
func checkOrder(t *testing.T, all []call, token, port string) {
	t.Helper()
	said := answered(all, port)
	if said == 0 {
		t.Fatalf("%s: no 250 in the log", token)
	}
	read := lastRead(all, port, said)
	if read == 0 {
		t.Fatalf("%s: no content in the log", token)
	}
	rows, raw := 0, 0
	for i, c := range all {
		written := (c.name == "pwrite64" || c.name == "write") && strings.Contains(c.data, token)
		switch {
		case !written || c.begun < read:
		case strings.HasSuffix(c.file, ".db-wal") && rows == 0: // later mails write the page again
			rows = commitAfter(all, i)
		case strings.HasSuffix(c.file, ".segment"):
			raw = c.ended
		}
	}
	if rows == 0 || !syncedBetween(all, "gonebox.db-wal", rows, said) {
		t.Errorf("%s: rows written until %d, 250 at %d, and no sync of the log between", token, rows, said)
	}
	if raw == 0 || !syncedBetween(all, ".segment", raw, said) {
		t.Errorf("%s: raw message written until %d, 250 at %d, and no sync of the segment between", token, raw, said)
	}
}

// answered is the index of the call that begins to write the 250 to a sender's port.
func answered(all []call, port string) int {
	for _, c := range all {
		if strings.HasPrefix(c.name, "write") && strings.Contains(c.file, ":"+port+"]") && strings.HasPrefix(c.data, "250 2.0.0 Message taken") {
			return c.begun
		}
	}
	return 0
}

// lastRead is the index of the call that read the last octets of the content.
func lastRead(all []call, port string, said int) (last int) {
	for _, c := range all {
		if c.name == "read" && c.ok && c.ended < said && strings.Contains(c.file, ":"+port+"]") {
			last = c.ended
		}
	}
	return last
}

// commitAfter is the end of the write of the page that commits the transaction to which the page at call i belongs. A
// page follows the header of its frame. In the committing frame the header holds the size of the database, in the
// others zero (SQLite file format §4.1).
func commitAfter(all []call, i int) int {
	committing := false
	for at, c := range all {
		switch {
		case c.name != "pwrite64" || !strings.HasSuffix(c.file, ".db-wal"):
		case len(c.data) == 24:
			committing = binary.BigEndian.Uint32([]byte(c.data[4:8])) != 0
		case at >= i && committing:
			return c.ended
		}
	}
	return 0
}

// syncedBetween reports whether a successful sync of a file began after one position and ended before another.
func syncedBetween(all []call, file string, after, before int) bool {
	for _, c := range all {
		syncs := c.name == "fsync" || c.name == "fdatasync"
		if syncs && c.ok && c.begun > after && c.ended != 0 && c.ended < before && strings.HasSuffix(c.file, file) {
			return true
		}
	}
	return false
}
