package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"time"
)

// The servers of others that are built from their modules.
const (
	inbucketModule = "github.com/inbucket/inbucket/v3/cmd/inbucket@v3.2.0"
	mailpitModule  = "github.com/axllent/mailpit@v1.33.1"
)

// peer is a server of others that takes the same mail as the service.
type peer struct {
	name string // with what it does before it answers 250
	*process
	smtp, web string // web is empty where it answers no calls

	fresh   func(ctx context.Context, boxes []mailbox) (int, error) // how many messages it has stored since the last call
	drained func() bool                                             // nil: it has stored a mail before it answers 250
	reads   func(ctx context.Context, boxes []mailbox) ([]call, error)
}

// The names of the peers in the report.
const (
	inbucket = "Inbucket"
	mailpit  = "Mailpit"
	postfix  = "Postfix"
)

// startPeers starts all that can be built or found, and says which cannot.
func (b *bench) startPeers(ctx context.Context) (all []*peer, err error) {
	for _, one := range []struct {
		name  string
		start func(context.Context) (*peer, error)
	}{{inbucket, b.startInbucket}, {mailpit, b.startMailpit}, {postfix, b.startPostfix}} {
		b.report.note("peers: start %s", one.name)
		p, err := one.start(ctx)
		if err == nil {
			err = p.awaitGreeting(ctx)
		}
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
		if err != nil {
			b.report.say("LEFT OUT: %s: %v", one.name, err)
			if p != nil {
				p.stop()
			}
			continue
		}
		p.name = one.name
		all = append(all, p)
	}
	return all, nil
}

func stopAll(peers []*peer) {
	for _, p := range peers {
		p.stop()
	}
}

// installed builds a program from its module, once for all runs, and returns where it is.
func installed(ctx context.Context, module string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	path, version, _ := strings.Cut(module, "@")
	dir := filepath.Join(cache, "gonebox-bench", version)
	program := filepath.Join(dir, filepath.Base(path))
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	cmd := exec.CommandContext(ctx, "go", "install", module)
	cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go install %s: %w: %s", module, err, bytes.TrimSpace(out[max(0, len(out)-500):]))
	}
	return program, nil
}

// awaitGreeting waits until the peer takes mail.
func (p *peer) awaitGreeting(ctx context.Context) error {
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		s := newSenders(small(), 1)[0]
		c, err := connect(ctx, p.smtp, s.helo, s.in)
		if err == nil {
			return c.conn.Close()
		}
		if dead := p.alive(); dead != nil {
			return dead
		}
		if time.Since(begun) > 20*time.Second {
			return err
		}
	}
}

// startInbucket starts Inbucket with its storage in memory, as it does by default.
func (b *bench) startInbucket(ctx context.Context) (*peer, error) {
	program, err := installed(ctx, inbucketModule)
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program)
	cmd.Dir = b.scratch
	cmd.Env = append(os.Environ(), "INBUCKET_LOGLEVEL=error", "INBUCKET_STORAGE_TYPE=memory",
		"INBUCKET_SMTP_ADDR="+ports[0], "INBUCKET_WEB_ADDR="+ports[1], "INBUCKET_POP3_ADDR="+ports[2])
	p := &peer{smtp: ports[0], web: ports[1]}
	p.fresh = func(ctx context.Context, boxes []mailbox) (n int, err error) {
		err = p.eachBox(ctx, boxes, func(c *caller, path string, ids []string) error {
			n += len(ids)
			status, err := c.do(request("DELETE", path, "", "")) // it holds 500 messages of a mailbox at most
			if err == nil && status != 200 {
				err = fmt.Errorf("erase %s: status %d", path, status)
			}
			return err
		})
		return n, err
	}
	p.reads = func(ctx context.Context, boxes []mailbox) ([]call, error) {
		calls := []call{{name: listCall}, {name: messageCall}}
		err := p.eachBox(ctx, boxes, func(_ *caller, path string, ids []string) error {
			calls[0].requests = append(calls[0].requests, request("GET", path, "", ""))
			for _, id := range ids {
				calls[1].requests = append(calls[1].requests, request("GET", path+"/"+id, "", ""))
			}
			return nil
		})
		return calls, err
	}
	p.process, err = start(ctx, cmd)
	return p, err
}

// eachBox lists mailboxes of Inbucket.
func (p *peer) eachBox(ctx context.Context, boxes []mailbox, do func(c *caller, path string, ids []string) error) error {
	c, err := dial(ctx, p.web)
	if err != nil {
		return err
	}
	defer c.conn.Close()
	for _, box := range boxes {
		local, _, _ := strings.Cut(box.Address, "@")
		path := "/api/v1/mailbox/" + local
		var list []struct{ ID string }
		if err := c.decode(200, "GET", path, "", "", &list); err != nil {
			return err
		}
		ids := make([]string, len(list))
		for i := range list {
			ids[i] = list[i].ID
		}
		if err := do(c, path, ids); err != nil {
			return err
		}
	}
	return nil
}

// startMailpit starts Mailpit with its database in a file.
func (b *bench) startMailpit(ctx context.Context) (*peer, error) {
	program, err := installed(ctx, mailpitModule)
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "--smtp", ports[0], "--listen", ports[1], "--database", b.dataDir()+".db", "--max", "0",
		"--quiet", "--disable-version-check", "--smtp-disable-rdns", "--disable-http-compression")
	p := &peer{smtp: ports[0], web: ports[1]}
	last := 0
	p.fresh = func(ctx context.Context, _ []mailbox) (int, error) {
		total, _, err := p.mailpitList(ctx, 1)
		fresh := total - last
		last = total
		return fresh, err
	}
	p.reads = func(ctx context.Context, boxes []mailbox) ([]call, error) {
		list := call{name: listCall, requests: [][]byte{request("GET", "/api/v1/messages?limit=20", "", "")}}
		message := call{name: messageCall}
		_, ids, err := p.mailpitList(ctx, len(boxes)*callsHeld)
		for _, id := range ids {
			message.requests = append(message.requests, request("GET", "/api/v1/message/"+id, "", ""))
		}
		return []call{list, message}, err
	}
	p.process, err = start(ctx, cmd)
	return p, err
}

// mailpitList returns how many messages Mailpit holds, and the newest of them.
func (p *peer) mailpitList(ctx context.Context, limit int) (total int, ids []string, err error) {
	c, err := dial(ctx, p.web)
	if err != nil {
		return 0, nil, err
	}
	defer c.conn.Close()
	var list struct {
		Total    int
		Messages []struct{ ID string }
	}
	err = c.decode(200, "GET", fmt.Sprintf("/api/v1/messages?limit=%d", limit), "", "", &list)
	for _, m := range list.Messages {
		ids = append(ids, m.ID)
	}
	return list.Total, ids, err
}

// startPostfix starts Debian's Postfix, which delivers to a Maildir for each mailbox, in a folder of its own.
func (b *bench) startPostfix(ctx context.Context) (*peer, error) {
	answer, err := exec.CommandContext(ctx, "/usr/sbin/postconf", "-dh", "daemon_directory").Output()
	if err != nil {
		return nil, fmt.Errorf("there is no Postfix on this machine, test/deps.sh installs it: %w", err)
	}
	ports, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	dir := b.dataDir()
	if err := postfixFolder(dir, ports[0]); err != nil {
		return nil, err
	}
	if err := os.Chmod(b.scratch, 0o711); err != nil { // its processes have users of their own
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, "/usr/sbin/postfix", "-c", dir, "check").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("postfix check: %w: %s", err, out)
	}
	p := &peer{smtp: ports[0]}
	p.drained = func() bool {
		for _, queue := range []string{"incoming", "active", "maildrop"} {
			if left, err := os.ReadDir(filepath.Join(dir, "queue", queue)); err != nil || len(left) > 0 {
				return false
			}
		}
		return true
	}
	p.fresh = func(context.Context, []mailbox) (n int, err error) {
		files, err := filepath.Glob(filepath.Join(dir, "mail", "*", "Maildir", "new", "*"))
		for _, file := range files {
			if err := os.Remove(file); err != nil {
				return 0, err
			}
		}
		return len(files), err
	}
	p.process, err = start(ctx, exec.Command(filepath.Join(strings.TrimSpace(string(answer)), "master"), "-c", dir, "-s"))
	return p, err
}

// postfixFolder makes the folders and the configuration of a Postfix: everything default but where things are.
func postfixFolder(dir, addr string) error {
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return err
	}
	owner, err := user.Lookup("postfix")
	if err != nil {
		return err
	}
	for folder, u := range map[string]*user.User{"queue": nil, "data": owner, "mail": nobody} {
		path := filepath.Join(dir, folder)
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
		if u != nil {
			if out, err := exec.Command("chown", u.Uid, path).CombinedOutput(); err != nil {
				return fmt.Errorf("run the bench as root for Postfix: %w: %s", err, out)
			}
		}
	}
	settings := fmt.Sprintf(`compatibility_level = 3.6
queue_directory = %[1]s/queue
data_directory = %[1]s/data
myhostname = postfix.bench.example
mydestination =
inet_interfaces = loopback-only
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
virtual_mailbox_domains = gonebox.localhost
virtual_mailbox_base = %[1]s/mail
virtual_mailbox_maps = texthash:%[1]s/mailboxes
alias_maps =
virtual_uid_maps = static:%[2]s
virtual_gid_maps = static:%[3]s
virtual_minimum_uid = 1
`, dir, nobody.Uid, nobody.Gid)
	const services = `%s inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
retry unix - - n - - error
proxymap unix - - n - - proxymap
virtual unix - n n - - virtual
anvil unix - - n - 1 anvil
`
	var maildirs strings.Builder
	for i := range boxCount {
		fmt.Fprintf(&maildirs, "%[1]s@gonebox.localhost %[1]s/Maildir/\n", boxName(i))
	}
	if err := os.WriteFile(filepath.Join(dir, "mailboxes"), []byte(maildirs.String()), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.cf"), []byte(settings), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "master.cf"), fmt.Appendf(nil, services, addr), 0o644)
}
