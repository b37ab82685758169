package dbtest

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Server is a PostgreSQL server of a test, on a socket in its own folder. It ends with the test program, however that ends.
type Server struct {
	dir    string
	input  io.WriteCloser // commands to the supervisor
	output *bufio.Reader  // its answers
	cmd    *exec.Cmd
}

// supervisor is the script that starts the server, and stops it after the test program has ended.
//
//go:embed supervisor.sh
var supervisor string

// name is the beginning of the names of the servers' folders. They are in one of two places and not in TMPDIR, since a socket's path is
// limited to some hundred octets.
const (
	name   = "gonebox-pg-"
	memory = "/dev/shm"
	disk   = "/tmp"
)

// place returns where a server has its folder: with syncs on disk, and in memory without, if there is room. Each database consists of 300
// files, and ext4 does not use an inode again until minutes after its deletion: looking for one that is free took most of the processor time
// of many a test.
func place(synced bool) string {
	const room = 2 << 30 // a server takes some hundred MB
	var fs syscall.Statfs_t
	if !synced && syscall.Statfs(memory, &fs) == nil && fs.Bavail*uint64(fs.Bsize) > room {
		return memory
	}
	return disk
}

// Start starts a server. Settings are lines of postgresql.conf; without any the server is in memory where there is room, does not sync,
// keeps no log for standbys and does not vacuum by itself, which would take a tenth of its processor time.
func Start(settings ...string) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	removeLeftovers()
	dir, err := os.MkdirTemp(place(len(settings) > 0), name)
	if err != nil {
		return nil, err
	}
	if len(settings) == 0 {
		settings = []string{
			"fsync=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0", "autovacuum=off", "update_process_title=off",
		}
	}
	s := &Server{dir: dir, cmd: exec.Command("/bin/sh", "-c", supervisor, "supervisor", bin, dir)}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a ^C goes to the test program alone, whose end the supervisor notices
	s.cmd.Dir = dir
	if err := s.dropRoot(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.run(settings); err != nil {
		return nil, fmt.Errorf("start PostgreSQL in %s: %w", dir, err)
	}
	return s, nil
}

// dropRoot gives the folder to another user, as whom the server will run, if the test runs as root: PostgreSQL refuses to.
func (s *Server) dropRoot() error {
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		s.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return os.Chown(s.dir, uid, gid)
	}
	return errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody")
}

func (s *Server) run(settings []string) (err error) {
	if s.input, err = s.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	s.output = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		return err
	}
	if err := s.answer(); err != nil {
		return err
	}
	for _, setting := range append(defaults(), settings...) {
		if err := s.command("set " + setting); err != nil {
			return err
		}
	}
	if err := s.command("init"); err != nil {
		return err
	}
	return s.Start()
}

// defaults returns the settings of every server, for many small tests on one machine.
func defaults() []string {
	return []string{
		"listen_addresses=''", "max_connections=600", "shared_buffers=64MB", "jit=off", "max_wal_size=2GB", "log_checkpoints=off",
		"autovacuum_naptime=10s",
	}
}

// Start starts the server again after Stop or Kill.
func (s *Server) Start() error { return s.command("start") }

// Stop stops the server without waiting for its clients (pg_ctl stop -m fast).
func (s *Server) Stop() error { return s.command("stop") }

// Kill kills all processes of the server at once.
func (s *Server) Kill() error { return s.command("kill") }

// Freeze stops all processes of the server with SIGSTOP: connections are accepted by the kernel and not answered until Thaw.
func (s *Server) Freeze() error { return s.command("freeze") }

// Thaw continues the processes after Freeze.
func (s *Server) Thaw() error { return s.command("thaw") }

// Close stops the server and removes its folder.
func (s *Server) Close() error {
	_ = s.input.Close()
	return s.cmd.Wait()
}

// URL returns the URL of a database of the server.
func (s *Server) URL(database string) string {
	return "postgres:///" + database + "?host=" + s.dir + "&user=gonebox"
}

// command sends a command to the supervisor and waits for its answer.
func (s *Server) command(what string) error {
	if _, err := io.WriteString(s.input, what+"\n"); err != nil {
		return err
	}
	return s.answer()
}

func (s *Server) answer() error {
	line, err := s.output.ReadString('\n')
	if line = strings.TrimSpace(line); line == "ok" {
		return nil
	}
	log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return fmt.Errorf("%s %w: %s", line, err, log)
}

// binaries returns the folder of initdb and postgres: the one on PATH, otherwise the newest of Debian's packages.
func binaries() (string, error) {
	if found, err := exec.LookPath("initdb"); err == nil {
		if found, err = filepath.EvalSymlinks(found); err == nil {
			return filepath.Dir(found), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errors.New("there is no PostgreSQL (initdb) on this machine; test/deps.sh installs it")
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return major(a) - major(b) })
	return filepath.Dir(newest), nil
}

func major(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

// removeLeftovers removes the servers and folders of supervisors that were killed.
func removeLeftovers() {
	inMemory, _ := filepath.Glob(filepath.Join(memory, name+"*/supervisor.pid"))
	onDisk, _ := filepath.Glob(filepath.Join(disk, name+"*/supervisor.pid"))
	for _, note := range slices.Concat(inMemory, onDisk) {
		text, err := os.ReadFile(note)
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil || pid == 0 || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		dir := filepath.Dir(note)
		if postmaster := running(dir); postmaster != 0 {
			_ = syscall.Kill(postmaster, syscall.SIGQUIT)
		}
		_ = os.RemoveAll(dir)
	}
}

// running returns the process of the server in a folder, or 0. It checks the command line, since the number may have been reused.
func running(dir string) int {
	text, _ := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	first, _, _ := strings.Cut(string(text), "\n")
	pid, _ := strconv.Atoi(first)
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if pid == 0 || !strings.Contains(string(line), dir) {
		return 0
	}
	return pid
}

// StartServer is Start for a single test; the server is closed when the test ends.
func StartServer(t testing.TB, settings ...string) *Server {
	t.Helper()
	skipShort(t)
	s, err := Start(settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("stop PostgreSQL: %v", err)
		}
	})
	return s
}
