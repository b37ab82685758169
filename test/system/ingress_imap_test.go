package system_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

var imapMails = flag.Int("imapmails", 300, "mails of the test of a mailbox elsewhere through crashes")

// dovecot is a server of IMAP with one mailbox, into which the tests deliver as a mail server would.
type dovecot struct {
	t    *testing.T
	dir  string
	addr string // host:port
	cmd  *exec.Cmd
	uid  int
	gid  int
	sent atomic.Int64
}

const dovecotConfig = `base_dir = DIR/run
state_dir = DIR/state
log_path = DIR/log
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_mechanisms = plain
mail_location = maildir:DIR/mail
first_valid_uid = 1
passdb {
  driver = static
  args = password=secret
}
userdb {
  driver = static
  args = uid=UID gid=GID home=DIR/home
}
service imap-login {
  inet_listener imap {
    port = PORT
  }
  inet_listener imaps {
    port = 0
  }
}
`

// startDovecot starts a server. It runs as root, as on a machine, since it gives its rights up.
func startDovecot(t *testing.T) *dovecot {
	t.Helper()
	program := need(t, "dovecot")
	if os.Getuid() != 0 {
		t.Skip("Dovecot is started by root alone")
	}
	owner, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	d := &dovecot{t: t, addr: apptest.FreeAddress(t)}
	d.uid, _ = strconv.Atoi(owner.Uid)
	d.gid, _ = strconv.Atoi(owner.Gid)
	if d.dir, err = os.MkdirTemp("", "gonebox-dovecot-"); err != nil { // not below the folder of the test, whose path is too long for sockets
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(d.dir) })
	if err := os.Chmod(d.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"home", "mail/tmp", "mail/new", "mail/cur"} {
		if err := os.MkdirAll(filepath.Join(d.dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{"home", "mail", "mail/tmp", "mail/new", "mail/cur"} {
		if err := os.Chown(filepath.Join(d.dir, folder), d.uid, d.gid); err != nil {
			t.Fatal(err)
		}
	}
	_, port, _ := net.SplitHostPort(d.addr)
	text := strings.NewReplacer("DIR", d.dir, "PORT", port, "UID", owner.Uid, "GID", owner.Gid).Replace(dovecotConfig)
	config := filepath.Join(d.dir, "dovecot.conf")
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d.cmd = exec.Command(program, "-F", "-c", config)
	d.cmd.Stderr = os.Stderr
	if err := d.cmd.Start(); err != nil {
		t.Fatalf("start Dovecot: %v", err)
	}
	t.Cleanup(func() {
		_ = d.cmd.Process.Signal(syscall.SIGTERM)
		_ = d.cmd.Wait()
		if log, err := os.ReadFile(filepath.Join(d.dir, "log")); err == nil && t.Failed() {
			t.Logf("the end of Dovecot's log:\n%s", tail(string(log), 2000))
		}
	})
	await(t, "Dovecot", func() bool {
		conn, err := net.Dial("tcp", d.addr)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return d
}

// deliver puts a message into the mailbox, with header fields in front as the server that received it has written them.
func (d *dovecot) deliver(fields string, message []byte) {
	d.t.Helper()
	d.put("new", "", fields, message)
}

// put puts a message into a part of the maildir, with flags behind its name.
func (d *dovecot) put(part, flags, fields string, message []byte) {
	d.t.Helper()
	name := fmt.Sprintf("%d.M%d.host", time.Now().Unix(), d.sent.Add(1))
	temporary := filepath.Join(d.dir, "mail/tmp", name)
	text := strings.ReplaceAll(fields+string(message), "\r\n", "\n")
	if err := os.WriteFile(temporary, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	if err := os.Chown(temporary, d.uid, d.gid); err != nil {
		d.t.Fatal(err)
	}
	if err := os.Rename(temporary, filepath.Join(d.dir, "mail", part, name+flags)); err != nil {
		d.t.Fatal(err)
	}
}

// left returns how many messages are in a folder, "" for the inbox.
func (d *dovecot) left(folder string) (n int) {
	for _, part := range []string{"new", "cur"} {
		entries, _ := os.ReadDir(filepath.Join(d.dir, "mail", folder, part))
		n += len(entries)
	}
	return n
}

// settings are those of an ingress that reads the mailbox at an address.
func imapSettings(addr string, more ...string) map[string]string {
	set := map[string]string{"ingress.home.kind": "imap", "ingress.home.url": "imap://" + addr, "ingress.home.user": "catchall", "ingress.home.password": "secret"}
	for i := 0; i < len(more); i += 2 {
		set[more[i]] = more[i+1]
	}
	return set
}

// A mailbox elsewhere is emptied into the mailboxes that its messages are for.
func TestMailboxElsewhereIsRead(t *testing.T) {
	t.Parallel()
	d := startDovecot(t)
	s := start(t, options{set: imapSettings(d.addr, "ingress.home.move_to", "Done", "mailbox.max_messages", "6", "smtp.max_size", "100KiB")})
	box, full := s.newMailbox(), s.newMailbox()
	mail := func(subject string) []byte {
		return []byte("From: shop@sender.example\r\nTo: catchall@hoster.example\r\nSubject: " + subject + "\r\n\r\nYour code is 482913.\r\n")
	}
	for i, fields := range []string{
		"Return-Path: <shop@sender.example>\r\nDelivered-To: " + box.Address + "\r\n",
		"Return-Path: <shop@sender.example>\r\nX-Original-To: " + box.Address + "\r\nDelivered-To: catchall@hoster.example\r\n",
		"Delivered-To: catchall@hoster.example\r\nEnvelope-To: " + box.Address + "\r\n",
		"Delivered-To: catchall@hoster.example\r\nReceived: from a\r\n\tby b\r\nDelivered-To: <" + box.Address + ">\r\n",
		"envelope-to: other@elsewhere.example, " + box.Address + "\r\n",
	} {
		d.deliver(fields, mail(fmt.Sprint("message ", i)))
	}
	await(t, "five messages", func() bool { return len(s.messages(box)) == 5 && d.left(".Done") == 5 && d.left("") == 0 })
	for _, m := range s.messages(box) {
		if m.OTP == nil || m.OTP.Code != "482913" {
			t.Errorf("the message %q has the code %+v, want 482913", m.Subject, m.OTP)
		}
	}
	if trace, _ := s.raw(box, s.named(box, "message 0").ID); !strings.Contains(string(trace), "Return-Path: <shop@sender.example>") || !strings.Contains(string(trace), " with IMAP\r\n") {
		t.Errorf("the trace fields are\n%s\nwant the reverse-path, and IMAP", trace)
	}
	code, out, stderr := command(t, "ingress", "test", "home", "--to", box.Address, "--set", "ingress.home.kind=imap", "--set", "ingress.home.url=imap://"+d.addr,
		"--set", "ingress.home.user=catchall", "--set", "ingress.home.password=secret")
	if code != 0 || !strings.Contains(out, "has taken the message out of INBOX") {
		t.Errorf("gonebox ingress test home: %d %q %q, want that the message was taken", code, out, stderr)
	}
	// A process that was killed may have marked a message as deleted, and not deleted it yet.
	d.put("cur", ":2,ST", "Delivered-To: nosuch@gonebox.localhost\r\n", mail("marked as deleted"))
	await(t, "the message that is marked as deleted", func() bool { return d.left(".Done") == 7 && d.left("") == 0 })
	// What is for nobody is moved; what cannot be stored now stays, and so does what names no recipient or is too large.
	d.deliver("Delivered-To: nosuch@gonebox.localhost\r\n", mail("nobody"))
	await(t, "the message for nobody", func() bool { return d.left(".Done") == 8 })
	for range 6 {
		send(t, s.smtp, mail("fills"), full.Address)
	}
	d.deliver("Delivered-To: "+full.Address+"\r\n", mail("full"))
	d.deliver("", mail("no recipient"))
	d.deliver("Delivered-To: "+box.Address+"\r\n", append(mail("large"), strings.Repeat("x\r\n", 100<<10)...))
	d.deliver("Delivered-To: nosuch@gonebox.localhost\r\n", mail("nobody again"))
	await(t, "the last message for nobody to be moved, and three messages to stay", func() bool { return d.left(".Done") == 9 && d.left("") == 3 })
	if got := s.value(`gonebox_ingress_mails_total{ingress="home",kind="imap",outcome="unread"}`); got < 2 {
		t.Errorf("the metrics count %v messages that could not be read, want the one without a recipient and the large one", got)
	}
}

// A connection that is dead without having been closed is given up, and another one takes its place.
func TestLostConnectionToAMailboxIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	d := startDovecot(t)
	p := startProxy(t, d.addr)
	s := start(t, options{set: imapSettings(p.Addr().String())})
	box := s.newMailbox()
	fields := "Delivered-To: " + box.Address + "\r\n"
	d.deliver(fields, []byte("Subject: first\r\n\r\nx\r\n"))
	await(t, "the first message to be stored and deleted", func() bool { return len(s.messages(box)) == 1 && d.left("") == 0 })
	p.dead.Store(p.opened.Load())
	began := time.Now()
	d.deliver(fields, []byte("Subject: second\r\n\r\nx\r\n"))
	await(t, "the second message", func() bool { return len(s.messages(box)) == 2 })
	t.Logf("the second message came %v after the connection was lost", time.Since(began).Round(time.Second))
}

// Messages of a mailbox elsewhere are neither lost nor doubled by crashes of the service.
func TestMailboxElsewhereSurvivesCrashes(t *testing.T) {
	t.Parallel()
	d := startDovecot(t)
	s := start(t, options{set: imapSettings(d.addr)})
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	boxes := []mailbox{s.newMailbox(), s.newMailbox()}
	go func() {
		for n := range *imapMails {
			d.deliver("Return-Path: <a@sender.example>\r\nDelivered-To: "+boxes[n%2].Address+"\r\n", sampleMail("elsewhere", fmt.Sprintf("tkn-%d.\r\n", n)))
		}
	}()
	kills := 0
	empty := func() bool { return d.sent.Load() >= int64(*imapMails) && d.left("") == 0 }
	for kills < killsMax && !empty() {
		<-time.After(time.Duration(rng.Int64N(int64(*ingressCrash))))
		if empty() {
			break
		}
		s.kill()
		kills++
		s.restart()
	}
	await(t, "an empty mailbox", empty)
	seen := map[string]int{}
	for _, box := range boxes {
		for token, ids := range tokens(t, s.messages(box)) {
			seen[token] += len(ids)
		}
	}
	lost, doubled := 0, 0
	for n := range *imapMails {
		got := seen[fmt.Sprintf("tkn-%d.", n)]
		lost, doubled = lost+max(1-got, 0), doubled+max(got-1, 0)
	}
	if lost > 0 || doubled > 0 {
		t.Errorf("of %d messages %d are lost and %d are there once too often after %d kills, want each once", *imapMails, lost, doubled, kills)
	}
	t.Logf("imap: %d messages, %d kills", *imapMails, kills)
}
