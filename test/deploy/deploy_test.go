// Package deploy_test checks the files in deploy/ against the program: each contains only settings that the service
// accepts, and the image's binary runs in a file system that holds nothing else.
package deploy_test

import (
	"bufio"
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/config"
)

const (
	root   = "../.."
	folder = root + "/deploy/"
)

// patience bounds a test that hangs.
const patience = time.Minute

func TestMain(m *testing.M) {
	os.Exit(apptest.RunLong("the built program, systemd and HAProxy", m.Run))
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// build runs the Containerfile's build command on the sources that it copies, and returns the binary in an otherwise
// empty folder.
func build(t *testing.T) string {
	t.Helper()
	line := regexp.MustCompile(`(?m)^RUN (CGO_ENABLED=0 go build .* -o )/out/gonebox (.*)$`).FindStringSubmatch(read(t, folder+"Containerfile"))
	if line == nil {
		t.Fatal("the Containerfile does not build the program, want a line with go build")
	}
	sources := t.TempDir()
	for source, target := range copied(t) {
		if err := os.CopyFS(filepath.Join(sources, target), os.DirFS(filepath.Join(root, source))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := os.WriteFile(filepath.Join(sources, name), []byte(read(t, root+"/"+name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(t.TempDir(), "gonebox")
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", line[1]+binary+" "+line[2])
	cmd.Dir, cmd.Env = sources, append(os.Environ(), "VERSION=1.2.3-test")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("run %s: %v\n%s", line[0], err, out)
	}
	return binary
}

// copied maps the folders that the Containerfile copies to their names in the builder stage.
func copied(t *testing.T) map[string]string {
	t.Helper()
	folders := make(map[string]string)
	for _, m := range regexp.MustCompile(`(?m)^COPY (\w+) (\w+)$`).FindAllStringSubmatch(read(t, folder+"Containerfile"), -1) {
		folders[m[1]] = m[2]
	}
	if len(folders) == 0 {
		t.Fatal("the Containerfile copies no folder, want the sources")
	}
	return folders
}

// TestImageBinaryRunsAlone serves in a root directory that holds only the binary and a data folder, as an unprivileged
// user with an empty environment.
func TestImageBinaryRunsAlone(t *testing.T) {
	binary := build(t)
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the binary has a segment %v, want it static", p.Type)
		}
	}
	empty := filepath.Dir(binary)
	data := filepath.Join(empty, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	within := confined(t, empty, data)
	if out, err := within("version").CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "gonebox 1.2.3-test") {
		t.Fatalf("gonebox version: %v\n%s\nwant gonebox 1.2.3-test", err, out)
	}
	web, mail := apptest.FreeAddress(t), apptest.FreeAddress(t)
	serve := within("serve", "--data-dir", "/data", "--http-addr", web, "--smtp-addr", mail)
	var said strings.Builder
	serve.Stdout, serve.Stderr = &said, &said
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	ready := func() bool { return within("ready", "--set", "http.addr="+web).Run() == nil }
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !ready() && ctx.Err() == nil {
		time.Sleep(50 * time.Millisecond)
	}
	if ctx.Err() != nil {
		_ = serve.Process.Kill()
		_ = serve.Wait()
		t.Fatalf("the program does not become ready, want it to:\n%s", said.String())
	}
	if out, err := within("send", "--to", "x@example.org", "--server", mail).CombinedOutput(); err == nil || !strings.Contains(string(out), "550") {
		t.Errorf("mail for an unknown mailbox: %v\n%s\nwant an error and \"550\" in it", err, out)
	}
	_ = serve.Process.Signal(syscall.SIGTERM)
	if err := serve.Wait(); err != nil {
		t.Errorf("stop the program: %v\n%s", err, said.String())
	}
}

// confined prepares commands that run in a root directory of their own as an unprivileged user.
func confined(t *testing.T, dir, data string) func(args ...string) *exec.Cmd {
	t.Helper()
	const unprivileged = 65532 // the numeric user of the image
	attributes := &syscall.SysProcAttr{Chroot: dir}
	if os.Getuid() == 0 {
		attributes.Credential = &syscall.Credential{Uid: unprivileged, Gid: unprivileged}
		if err := os.Chown(data, unprivileged, unprivileged); err != nil {
			t.Fatal(err)
		}
	} else { // a namespace of our own, in which we may change the root directory
		attributes.Cloneflags = syscall.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: unprivileged, HostID: os.Getuid(), Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: unprivileged, HostID: os.Getgid(), Size: 1}}
	}
	for at := dir; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(data, 0o700); err != nil {
		t.Fatal(err)
	}
	return func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "/gonebox", args...)
		cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", []string{}, attributes
		return cmd
	}
}

func TestContainerfileMatchesSources(t *testing.T) {
	text := read(t, folder+"Containerfile")
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, root+"/go.mod"))[1]
	if want := "FROM docker.io/library/golang:" + version + " AS build"; !strings.Contains(text, want) {
		t.Errorf("go.mod wants Go %s; the Containerfile has no %q", version, want)
	}
	if last := text[strings.LastIndex(text, "\nFROM ")+1:]; !strings.HasPrefix(last, "FROM scratch\n") || !strings.Contains(last, "\nUSER 65532:65532\n") {
		t.Errorf("the image is\n%s\nwant it from scratch, with an unprivileged user", last)
	}
	sent := strings.Fields(read(t, folder+"Containerfile.dockerignore"))
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) < 3 || words[0] != "COPY" || strings.HasPrefix(words[1], "--from") {
			continue
		}
		for _, source := range words[1 : len(words)-1] {
			if _, err := os.Stat(filepath.Join(root, source)); err != nil {
				t.Errorf("%s: find the source: %v", lines.Text(), err)
			}
			if !slices.Contains(sent, "!"+source) {
				t.Errorf("%s: the source is not sent to the builder, want it in Containerfile.dockerignore", lines.Text())
			}
		}
	}
}

// TestUnitIsHardened has systemd rate the unit, where systemd is installed.
func TestUnitIsHardened(t *testing.T) {
	text := read(t, folder+"gonebox.service")
	for _, want := range []string{"\nUser=gonebox\n", "StateDirectory=gonebox", "CapabilityBoundingSet=CAP_NET_BIND_SERVICE\n", "NoNewPrivileges=yes", "ProtectSystem=strict"} {
		if !strings.Contains(text, want) {
			t.Errorf("gonebox.service does not say %q, want it there", want)
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is missing: systemd has not read the unit")
	}
	here := strings.ReplaceAll(text, "ExecStart=gonebox", "ExecStart=true") // it looks for the program
	unit := filepath.Join(t.TempDir(), "gonebox.service")
	if err := os.WriteFile(unit, []byte(here), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"verify", "--man=no", unit}, {"security", "--offline=true", "--threshold=20", "--no-pager", unit}} {
		out, err := exec.CommandContext(t.Context(), analyze, args...).CombinedOutput()
		if err != nil || args[0] == "verify" && len(out) > 0 {
			t.Errorf("systemd-analyze %s: %v, want no error, and no output of verify\n%s", fmt.Sprint(args), err, out)
		}
	}
}

// TestBalancerConfigIsValid has HAProxy check the configuration.
func TestBalancerConfigIsValid(t *testing.T) {
	haproxy, err := exec.LookPath("haproxy")
	if err != nil {
		if haproxy, err = exec.LookPath("/usr/sbin/haproxy"); err != nil {
			t.Skip("haproxy is missing: it has not read its file")
		}
	}
	if out, err := exec.CommandContext(t.Context(), haproxy, "-c", "-f", folder+"haproxy.cfg").CombinedOutput(); err != nil {
		t.Errorf("haproxy -c: %v\n%s", err, out)
	}
}

// TestExampleOfConfigurationIsValid loads deploy/gonebox.yaml as it is, and with every line that is commented out.
func TestExampleOfConfigurationIsValid(t *testing.T) {
	text := read(t, folder+"gonebox.yaml")
	full := regexp.MustCompile(`(?m)^#([a-z_]+:)`).ReplaceAllString(text, "$1")
	if full == text {
		t.Error("gonebox.yaml suggests no setting, want some that are commented out")
	}
	for _, example := range []string{text, full} {
		path := filepath.Join(t.TempDir(), "gonebox.yaml")
		if err := os.WriteFile(path, []byte(example), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := config.Load(path, nil, nil)
		if err != nil {
			t.Errorf("config.Load of this example: %v\n%s", err, example)
		} else if cfg.DataDir != "/var/lib/gonebox" {
			t.Errorf("the data folder is %s, want that of the unit, /var/lib/gonebox", cfg.DataDir)
		}
	}
}
