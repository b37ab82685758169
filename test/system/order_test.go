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
		reply, err := c.send("sender@example.org", []string{box.Address}, sampleMail(token, token))
		if err != nil || !strings.HasPrefix(reply, "250 ") {
			t.Errorf("%s: the reply is %q, %v, want 250", token, reply, err)
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
		checkOrder(t, all, token, port, sealedRaw(t, s.dir, token))
	}
	said := answered(all, ports["alone-0"])
	if !syncedBetween(all, "raw", 0, said) {
		t.Error("the folder of the raw messages was not synced before the first 250, want it synced")
	}
	if !syncedBetween(all, filepath.Base(s.dir), 0, said) {
		t.Error("the data folder was not synced before the first 250, want it synced")
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
		t.Errorf("the service ended with status %d, want 0", code)
	}
}

// sealedRaw returns the encrypted raw message of the mail with a token, as its segment holds it.
func sealedRaw(t *testing.T, dir, token string) string {
	t.Helper()
	d := openDatabase(t, "sqlite", "file:"+filepath.Join(dir, "gonebox.db"))
	defer d.Close()
	var ref string
	if err := d.QueryRowContext(t.Context(), "SELECT raw_ref FROM message WHERE instr(summary, $1) > 0", token).Scan(&ref); err != nil {
		t.Fatalf("find the message of %s: %v", token, err)
	}
	parts := strings.Split(ref, ".") // s, class, period, nonce, offset, length, key
	files, err := filepath.Glob(filepath.Join(dir, "raw", fmt.Sprintf("*-%08x.segment", number36(t, parts[3]))))
	if err != nil || len(files) != 1 {
		t.Fatalf("the segment of %s: %v, %v, want one", token, files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	const header = 8
	begin := number36(t, parts[4]) + header
	return string(content[begin : begin+number36(t, parts[5])])
}

// checkOrder finds what was written for one mail, and the syncs between that and its 250.
func checkOrder(t *testing.T, all []call, token, port, sealed string) {
	t.Helper()
	said := answered(all, port)
	if said == 0 {
		t.Fatalf("%s: the trace has no 250, want one", token)
	}
	read := lastRead(all, port, said)
	if read == 0 {
		t.Fatalf("%s: the trace has no content read before 250, want it", token)
	}
	rows, raw := 0, 0
	for i, c := range all {
		written := c.name == "pwrite64" || c.name == "write"
		switch {
		case !written || c.begun < read:
		case strings.HasSuffix(c.file, ".db-wal") && rows == 0 && strings.Contains(c.data, token): // later mails write the page again
			rows = commitAfter(all, i)
		case strings.HasSuffix(c.file, ".segment") && strings.Contains(c.data, sealed):
			raw = c.ended
		}
	}
	if rows == 0 || !syncedBetween(all, "gonebox.db-wal", rows, said) {
		t.Errorf("%s: rows written until %d, 250 at %d, want a sync of the log between", token, rows, said)
	}
	if raw == 0 || !syncedBetween(all, ".segment", raw, said) {
		t.Errorf("%s: raw message written until %d, 250 at %d, want a sync of the segment between", token, raw, said)
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

// commitAfter is the end of the write that commits the transaction to which the frame written by call i belongs. A write has one frame of
// the log or more, each a header and a page. In the committing frame the header holds the size of the database, in the others zero
// (SQLite file format §4.1).
func commitAfter(all []call, i int) int {
	const header, frame = 24, 24 + 4096
	for _, c := range all[i:] {
		if c.name != "pwrite64" || !strings.HasSuffix(c.file, ".db-wal") {
			continue
		}
		for frames := c.data; len(frames) >= frame; frames = frames[frame:] {
			if binary.BigEndian.Uint32([]byte(frames[4:header])) != 0 {
				return c.ended
			}
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
