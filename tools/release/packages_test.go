package main

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// installedFiles are some of what each package installs, with mode, owner and group as ls writes them.
var installedFiles = map[string]string{
	"/usr/bin/gonebox":                                  "-rwxr-xr-x",
	"/usr/lib/systemd/system/gonebox.service":           "-rw-r--r--",
	"/etc/gonebox.yaml":                                 "-rw-r-----",
	"/usr/share/man/man1/gonebox.1.gz":                  "-rw-r--r--",
	"/usr/share/man/man1/gonebox-inbox.1.gz":            "-rw-r--r--",
	"/usr/share/bash-completion/completions/gonebox":    "-rw-r--r--",
	"/usr/share/zsh/vendor-completions/_gonebox":        "-rw-r--r--",
	"/usr/share/fish/vendor_completions.d/gonebox.fish": "-rw-r--r--",
	"/usr/share/doc/gonebox/copyright":                  "-rw-r--r--",
}

// checkInstalled compares a list as tar and cpio print it with installedFiles.
func checkInstalled(t *testing.T, pkg, list string) {
	t.Helper()
	for name, mode := range installedFiles {
		if !regexp.MustCompile(`(?m)^` + mode + `.* root[/ ]+root .* \.?` + regexp.QuoteMeta(name) + `$`).MatchString(list) {
			t.Errorf("%s lists\n%s\nwant %s with the mode %s and as root's", pkg, list, name, mode)
		}
	}
}

func TestDebInstallsUnitAndManual(t *testing.T) {
	dpkg := need(t, "dpkg-deb")
	for _, arch := range []string{"amd64", "arm64"} {
		deb := artefact(t, "gonebox_*_"+arch+".deb")
		checkInstalled(t, deb, output(t, "/", nil, dpkg, "--contents", deb))
		control := t.TempDir()
		output(t, "/", nil, dpkg, "--control", deb, control)
		if got := read(t, filepath.Join(control, "conffiles")); got != "/etc/gonebox.yaml\n" {
			t.Errorf("%s: its configuration files are %q, want /etc/gonebox.yaml", deb, got)
		}
		fields := output(t, "/", nil, dpkg, "--field", deb, "Package", "Architecture", "Version", "Depends")
		for _, want := range []string{"Package: gonebox", "Architecture: " + arch, "Version: " + strings.Replace(made.version, "-", "~", 1), "Depends: passwd"} {
			if !strings.Contains(fields+"\n", want) {
				t.Errorf("%s: its fields are\n%swant %s", deb, fields, want)
			}
		}
		for _, script := range []string{"postinst", "prerm", "postrm"} {
			output(t, control, nil, "sh", "-n", script)
		}
	}
}

// TestDebIsInstalledUpgradedAndPurged lives through the life of the package on a bare Debian 12: the service starts by the
// command line of its unit, an upgrade keeps its data and its configuration, and a purge leaves nothing.
func TestDebIsInstalledUpgradedAndPurged(t *testing.T) {
	needWhole(t)
	if os.Getuid() != 0 {
		t.Skip("only root can make a Debian")
	}
	tree := debian(t)
	deb := artefact(t, "gonebox_*_"+runtime.GOARCH+".deb")
	older := filepath.Join(t.TempDir(), "older")
	output(t, "/", nil, "dpkg-deb", "--raw-extract", deb, older)
	control := filepath.Join(older, "DEBIAN/control")
	write(t, control, regexp.MustCompile(`(?m)^Version: .*`).ReplaceAllString(read(t, control), "Version: 0.0.1"))
	output(t, "/", nil, "dpkg-deb", "--build", "--root-owner-group", older, filepath.Join(tree, "tmp/older.deb"))
	output(t, "/", nil, "cp", deb, filepath.Join(tree, "tmp/newer.deb"))
	in := func(args ...string) string {
		t.Helper()
		return output(t, "/", []string{"DEBIAN_FRONTEND=noninteractive", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, "chroot", append([]string{tree}, args...)...)
	}

	in("dpkg", "--install", "/tmp/older.deb")
	account := strings.Split(strings.TrimSpace(in("getent", "passwd", "gonebox")), ":")
	if len(account) != 7 || account[5] != "/var/lib/gonebox" || account[6] != "/usr/sbin/nologin" {
		t.Errorf("the package makes the user %q, want one with the home /var/lib/gonebox and no shell", account)
	}
	if got := in("stat", "--format=%a %U %G", "/etc/gonebox.yaml", "/var/lib/gonebox"); got != "640 root gonebox\n700 gonebox gonebox\n" {
		t.Errorf("the configuration and the data folder have %q, want modes 640 and 700, and the group gonebox", got)
	}
	write(t, filepath.Join(tree, "etc/gonebox.yaml"), read(t, filepath.Join(tree, "etc/gonebox.yaml"))+"\nsmtp: {hostname: mx.kept.example}\n")

	s := start(t, unitCommand(t, tree))
	s.readCode(filepath.Join(tree, "usr/bin/gonebox"))
	home := []string{"HOME=" + t.TempDir(), "GONEBOX_URL=http://" + s.http}
	address := strings.TrimSpace(output(t, "/", home, filepath.Join(tree, "usr/bin/gonebox"), "inbox", "new"))
	s.process.Process.Signal(syscall.SIGTERM)
	<-s.ended

	in("dpkg", "--install", "/tmp/newer.deb")
	if !strings.Contains(read(t, filepath.Join(tree, "etc/gonebox.yaml")), "mx.kept.example") {
		t.Error("the upgrade replaced the configuration, want it kept")
	}
	s = start(t, unitCommand(t, tree))
	shown := in("chroot", "--userspec=gonebox:gonebox", "/", "gonebox", "mailbox", "show", "--config", "/etc/gonebox.yaml", address)
	if !strings.Contains(shown, address) {
		t.Errorf("after the upgrade gonebox mailbox show %s prints %q, want the mailbox from before", address, shown)
	}
	s.process.Process.Signal(syscall.SIGTERM)
	<-s.ended

	in("dpkg", "--remove", "gonebox")
	if _, err := os.Stat(filepath.Join(tree, "var/lib/gonebox/gonebox.db")); err != nil {
		t.Errorf("the removal took the data with it: %v", err)
	}
	in("dpkg", "--purge", "gonebox")
	for _, gone := range []string{"var/lib/gonebox", "etc/gonebox.yaml", "usr/bin/gonebox"} {
		if _, err := os.Stat(filepath.Join(tree, gone)); !os.IsNotExist(err) {
			t.Errorf("after the purge os.Stat(%q) returns %v, want that it does not exist", gone, err)
		}
	}
	if passwd := read(t, filepath.Join(tree, "etc/passwd")); strings.Contains(passwd, "gonebox") {
		t.Error("the purge left the user gonebox, want it removed")
	}
}

// debianFlag saves the minutes that debootstrap takes where the tests are run again and again.
var debianFlag = flag.String("debian", "", "copy a bare Debian 12 from a `folder`, instead of making one by debootstrap")

// debian returns a bare Debian 12, which is removed with the test.
func debian(t *testing.T) string {
	t.Helper()
	tree := filepath.Join(t.TempDir(), "debian")
	if *debianFlag != "" {
		output(t, "/", nil, "cp", "--archive", *debianFlag, tree)
	} else {
		output(t, "/", nil, need(t, "debootstrap"), "--variant=minbase", "bookworm", tree)
	}
	if err := os.Chmod(filepath.Dir(tree), 0o755); err != nil { //nolint:gosec // the service runs as another user
		t.Fatal(err)
	}
	return tree
}

// unitCommand returns the command of the installed unit as systemd would start it: its command line, user, environment and
// folder. The program has no folder in the unit and is looked for where systemd does.
func unitCommand(t *testing.T, tree string) *exec.Cmd {
	t.Helper()
	unit := read(t, filepath.Join(tree, "usr/lib/systemd/system/gonebox.service"))
	value := func(key string) string {
		m := regexp.MustCompile(`(?m)^` + key + `=(.*)$`).FindStringSubmatch(unit)
		if m == nil {
			t.Fatalf("the unit is\n%s\nwant %s in it", unit, key)
		}
		return m[1]
	}
	words := strings.Fields(value("ExecStart"))
	for _, dir := range []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin"} {
		if _, err := os.Stat(filepath.Join(tree, dir, words[0])); err == nil {
			words[0] = filepath.Join(dir, words[0])
			break
		}
	}
	account := strings.Split(output(t, "/", nil, "chroot", tree, "getent", "passwd", value("User")), ":")
	uid, err := strconv.Atoi(account[2])
	if err != nil {
		t.Fatalf("the unit's account of %s is %q: %v", value("User"), account, err)
	}
	gid, _ := strconv.Atoi(account[3])
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), words[0], words[1:]...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: tree, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	cmd.Err = nil // the program is below the new root
	cmd.Env = []string{value("Environment")}
	if value("StateDirectory") != "gonebox" || !slices.Contains(cmd.Env, "GONEBOX_DATA_DIR=/var/lib/gonebox") {
		t.Errorf("the unit's environment is %q, want its state directory as the data folder", cmd.Env)
	}
	return cmd
}

func TestRPMInstallsUnitAndManual(t *testing.T) {
	rpm2cpio, cpio := need(t, "rpm2cpio"), need(t, "cpio")
	for _, arch := range []string{"x86_64", "aarch64"} {
		rpm := artefact(t, "gonebox-*."+arch+".rpm")
		list := output(t, "/", nil, "sh", "-c", rpm2cpio+` "$1" | `+cpio+` --quiet --list --verbose`, "sh", rpm)
		checkInstalled(t, rpm, list)
	}
}

// TestRPMHasScriptsAndReadsCode has rpm check the package, and starts its program from where it was unpacked.
func TestRPMHasScriptsAndReadsCode(t *testing.T) {
	needWhole(t)
	rpm2cpio, cpio := need(t, "rpm2cpio"), need(t, "cpio")
	rpm := artefact(t, "gonebox-*.x86_64.rpm")
	query := func(args ...string) string {
		return output(t, "/", []string{"HOME=" + t.TempDir()}, need(t, "rpm"), append(args, rpm)...)
	}
	if got := query("--checksig", "--nosignature"); !strings.Contains(got, "digests OK") {
		t.Errorf("rpm --checksig prints %q, want digests OK", got)
	}
	if got := query("--query", "--configfiles", "--package"); got != "/etc/gonebox.yaml\n" {
		t.Errorf("its configuration files are %q, want /etc/gonebox.yaml", got)
	}
	scripts := query("--query", "--scripts", "--package")
	for _, want := range []string{"postinstall scriptlet", "useradd --system", "preuninstall scriptlet", "postuninstall scriptlet"} {
		if !strings.Contains(scripts, want) {
			t.Errorf("its scripts are\n%s\nwant %q in them", scripts, want)
		}
	}
	if got := query("--query", "--requires", "--package"); !strings.Contains(got, "shadow-utils") {
		t.Errorf("it requires %q, want shadow-utils, which has useradd", got)
	}
	tree := t.TempDir()
	output(t, "/", nil, "sh", "-c", `cd "$1" && `+rpm2cpio+` "$2" | `+cpio+` --quiet --extract --make-directories --no-absolute-filenames`, "sh", tree, rpm)
	program := filepath.Join(tree, "usr/bin/gonebox")
	if here.arch == "amd64" {
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, "serve", "--config", filepath.Join(tree, "etc/gonebox.yaml"), "--data-dir", t.TempDir())
		cmd.Env = os.Environ()
		start(t, cmd).readCode(program)
	}
}
