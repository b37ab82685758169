package system_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// withPatroni runs the tests that need Patroni and etcd; make failover installs them and sets it.
var withPatroni = flag.Bool("patroni", false, "run the failover tests, which need Patroni and etcd")

// patroniNodes is the number of PostgreSQL servers: a primary, a synchronous standby and one more.
const patroniNodes = 3

// patroni is a PostgreSQL that fails over: a Patroni with its server on each node, and an etcd that they elect the primary with.
type patroni struct {
	t      *testing.T
	dir    string
	bin    string // of PostgreSQL
	etcd   string // host:port
	nodes  []*patroniNode
	client http.Client
	owner  *syscall.Credential // of all processes, nil: the user of the test
}

type patroniNode struct {
	name, data string
	postgres   string // host:port
	rest       string // host:port
	config     string
	cmd        *exec.Cmd
}

// startPatroni starts the nodes and waits until there is a primary with a synchronous standby.
func startPatroni(t *testing.T) *patroni {
	t.Helper()
	initdb, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(initdb) == 0 {
		t.Fatalf("no initdb below /usr/lib/postgresql: %v, want a PostgreSQL of Debian's packages", err)
	}
	dir, err := os.MkdirTemp("/tmp", "gonebox-patroni-")
	if err != nil {
		t.Fatal(err)
	}
	p := &patroni{t: t, dir: dir, bin: filepath.Dir(initdb[len(initdb)-1]), etcd: apptest.FreeAddress(t), client: http.Client{Timeout: time.Second}}
	if os.Getuid() == 0 {
		p.owner = credentialOf(t, "postgres")
		if err := os.Chown(dir, int(p.owner.Uid), int(p.owner.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	peer := apptest.FreeAddress(t)
	etcd := p.launch("etcd", need(t, "etcd"), "--name", "one", "--data-dir", filepath.Join(dir, "etcd"), "--listen-client-urls", "http://"+p.etcd,
		"--advertise-client-urls", "http://"+p.etcd, "--listen-peer-urls", "http://"+peer, "--initial-advertise-peer-urls", "http://"+peer,
		"--initial-cluster", "one=http://"+peer)
	t.Cleanup(func() {
		for _, n := range p.nodes {
			p.signal(n, syscall.SIGCONT)
			p.signal(n, syscall.SIGKILL)
			_ = n.cmd.Wait()
		}
		_ = etcd.Process.Kill()
		_ = etcd.Wait()
		if t.Failed() {
			p.logs()
		}
		_ = os.RemoveAll(dir)
	})
	for i := range patroniNodes {
		n := &patroniNode{name: fmt.Sprintf("node%d", i+1), postgres: apptest.FreeAddress(t), rest: apptest.FreeAddress(t)}
		n.data, n.config = filepath.Join(dir, n.name), filepath.Join(dir, n.name+".yaml")
		if err := os.WriteFile(n.config, []byte(p.configOf(n)), 0o644); err != nil {
			t.Fatal(err)
		}
		p.nodes = append(p.nodes, n)
		p.start(n)
	}
	p.awaitSynchronous()
	return p
}

func credentialOf(t *testing.T, name string) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// configOf returns the configuration of a node. A standby is promoted at once if the primary's server dies (primary_start_timeout
// 0), and after ttl if its machine does.
func (p *patroni) configOf(n *patroniNode) string {
	host, port, _ := strings.Cut(n.postgres, ":")
	return fmt.Sprintf(`scope: gonebox
name: %s
restapi: {listen: '%s', connect_address: '%s'}
etcd3: {hosts: '%s'}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 1
    retry_timeout: 3
    primary_start_timeout: 0
    master_start_timeout: 0
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters: {max_connections: 200, wal_log_hints: 'on', wal_keep_size: 1GB, shared_buffers: 32MB, jit: 'off'}
  initdb: [{encoding: UTF8}, {locale: C}]
  pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust']
postgresql:
  listen: '%s:%s'
  connect_address: '%s:%s'
  data_dir: %s
  bin_dir: %s
  pgpass: %s.pgpass
  authentication: {superuser: {username: postgres}, replication: {username: postgres}, rewind: {username: postgres}}
  parameters: {unix_socket_directories: %s}
`, n.name, n.rest, n.rest, p.etcd, host, port, host, port, n.data, p.bin, n.data, p.dir)
}

func (p *patroni) launch(log string, name string, args ...string) *exec.Cmd {
	p.t.Helper()
	out, err := os.OpenFile(filepath.Join(p.dir, log+".log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, out, out
	cmd.Env = append(os.Environ(), "HOME="+p.dir, "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: p.owner, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	return cmd
}

// start starts the Patroni of a node, which starts its server.
func (p *patroni) start(n *patroniNode) { n.cmd = p.launch(n.name, need(p.t, "patroni"), n.config) }

// kill ends all processes of a node at once, as if its machine lost power.
func (p *patroni) kill(n *patroniNode) {
	p.signal(n, syscall.SIGKILL)
	_ = n.cmd.Wait()
}

// signal sends a signal to the Patroni of a node and to all processes of its server.
func (p *patroni) signal(n *patroniNode, s syscall.Signal) {
	_ = n.cmd.Process.Signal(s)
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if dir, err := os.Readlink(link); err == nil && dir == n.data {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(link)))
			_ = syscall.Kill(pid, s)
		}
	}
}

// url names all nodes; the client uses the one that is primary.
func (p *patroni) url() string {
	var hosts []string
	for _, n := range p.nodes {
		hosts = append(hosts, n.postgres)
	}
	return "postgres://postgres@" + strings.Join(hosts, ",") + "/gonebox?target_session_attrs=read-write"
}

// psql runs a command on a database of a node.
func (p *patroni) psql(n *patroniNode, database, command string) error {
	host, port, _ := strings.Cut(n.postgres, ":")
	out, err := exec.CommandContext(p.t.Context(), filepath.Join(p.bin, "psql"), "-h", host, "-p", port, "-U", "postgres", "-d", database, "-c", command).CombinedOutput()
	if err != nil {
		return fmt.Errorf("psql: %w: %s", err, out)
	}
	return nil
}

// create creates the database of the service and waits until each node has it: the client takes a node without it for a wrong URL.
func (p *patroni) create() {
	p.t.Helper()
	if err := p.psql(p.primary(), "postgres", "CREATE DATABASE gonebox"); err != nil {
		p.t.Fatal(err)
	}
	for _, n := range p.nodes {
		await(p.t, "the database on "+n.name, func() bool { return p.psql(n, "gonebox", "SELECT 1") == nil })
	}
}

// members returns the role of each node that reports one: leader, sync_standby, replica.
func (p *patroni) members() map[string]string {
	roles := make(map[string]string)
	for _, n := range p.nodes {
		res, err := p.client.Get("http://" + n.rest + "/cluster")
		if err != nil {
			continue
		}
		var c struct {
			Members []struct{ Name, Role, State string }
		}
		err = json.NewDecoder(res.Body).Decode(&c)
		_ = res.Body.Close()
		if err != nil {
			continue
		}
		for _, m := range c.Members {
			if m.State == "running" || m.State == "streaming" {
				roles[m.Name] = m.Role
			}
		}
		return roles
	}
	return roles
}

// primary returns the node that is the primary, or nil.
func (p *patroni) primary() *patroniNode {
	roles := p.members()
	for _, n := range p.nodes {
		if roles[n.name] == "leader" {
			return n
		}
	}
	return nil
}

// awaitSynchronous waits until all nodes run and a standby is synchronous, without which commits wait.
func (p *patroni) awaitSynchronous() {
	p.t.Helper()
	const rewound = 5 * time.Minute // a node that was primary copies what it needs of its successor
	awaitWithin(p.t, rewound, "a primary with a synchronous standby", func() bool {
		standbys, leaders, roles := 0, 0, p.members()
		for _, role := range roles {
			switch role {
			case "leader":
				leaders++
			case "sync_standby":
				standbys++
			}
		}
		return leaders == 1 && standbys >= 1 && len(roles) == patroniNodes
	})
}

// logs prints the end of each log.
func (p *patroni) logs() {
	files, _ := filepath.Glob(filepath.Join(p.dir, "*.log"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		p.t.Logf("the end of %s:\n%s", filepath.Base(file), tail(string(text), 3000))
	}
}

// TestPatroniFailoverLosesNothing kills and freezes the primary of a PostgreSQL with three nodes while mail is sent and orders
// are paid. Three processes of the service find the new primary without a restart. In the end each mail that was answered 250 is
// stored once, and each order that was paid is credited once.
func TestPatroniFailoverLosesNothing(t *testing.T) {
	if !*withPatroni {
		t.Skip("needs Patroni and etcd: make failover")
	}
	n := *seed
	if n == 0 {
		n = uint64(rand.Uint32())
	}
	t.Logf("-seed %d", n)
	p := startPatroni(t)
	p.create()
	c := startCluster(t, p.url(), paidSettings(), "smtp, api", "smtp, api", "jobs")
	t.Cleanup(func() {
		for _, s := range c.processes {
			if t.Failed() {
				t.Logf("the errors of %q:\n%s", s.o.set["roles"], lastErrors(s.proc.err.String()))
			}
		}
	})
	l := &load{seed: n, addr: c.front.smtp}
	for range 4 {
		l.boxes = append(l.boxes, c.front.newMailbox())
	}
	m := &market{seed: n, url: c.front.url}
	for i := range 2 { // more would conflict with each other all the time
		m.payers = append(m.payers, &payer{market: m, n: i, token: c.front.register(fmt.Sprintf("payer-%d@example.org", i)), bought: make(map[string]bool)})
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	closing := make(chan struct{})
	var sending, paying sync.WaitGroup
	for n := range senders / 2 {
		sending.Go(func() { l.run(ctx, n) })
	}
	for _, p := range m.payers {
		paying.Go(func() { p.run(ctx, closing) })
	}
	busy := func(mails, calls int) {
		t.Helper()
		mails, calls = mails+l.acknowledged(), calls+m.answered()
		await(t, "mails and calls being answered", func() bool { return l.acknowledged() >= mails && m.answered() >= calls })
	}
	for _, kind := range []string{"SIGKILL", "SIGSTOP", "SIGKILL", "SIGSTOP"} {
		busy(200, 100)
		old := p.primary()
		began := time.Now()
		if kind == "SIGKILL" {
			p.kill(old)
		} else {
			p.signal(old, syscall.SIGSTOP)
		}
		reported := false // whether /readyz has reported the outage
		await(t, "another primary", func() bool {
			reported = reported || !c.processes[0].ready()
			now := p.primary()
			return now != nil && now != old
		})
		promoted := time.Since(began)
		mails := l.acknowledged() + 1
		await(t, "recovery", func() bool { return c.balancer.allReady() && l.acknowledged() >= mails })
		recovered := time.Since(began)
		t.Logf("%s of %s: another primary after %s, mail is accepted and all are ready %s later; /readyz reported it: %v",
			kind, old.name, promoted.Round(100*time.Millisecond), (recovered - promoted).Round(100*time.Millisecond), reported)
		if !reported {
			t.Errorf("%s: /readyz never answered 503, want it to report the lost primary", kind)
		}
		if kind == "SIGKILL" {
			p.start(old)
		} else {
			p.signal(old, syscall.SIGCONT)
		}
		p.awaitSynchronous()
	}
	busy(200, 300)
	close(closing)
	paying.Wait()
	l.end()
	sending.Wait()
	l.verify(t, c.front)
	await(t, "the reconciliation", func() bool { return c.processes[0].unseen() == 0 })
	m.verify(t, c.front)
	t.Logf("%d mails acknowledged, each stored once", l.acknowledged())
	for _, p := range c.processes {
		p.stop()
	}
}

// lastErrors returns the last lines of a log that are not about requests.
func lastErrors(log string) string {
	var lines []string
	for line := range strings.Lines(log) {
		if !strings.Contains(line, "msg=request") && !strings.Contains(line, "level=INFO") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-30):], "")
}
