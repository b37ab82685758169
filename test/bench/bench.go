package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// senders is how many clients send mail at the same time.
const senders = 32

// bench is what the parts share: the built service, a place for its data, a resolver, and the report.
type bench struct {
	options
	scratch string // removed at the end
	names   *nameServer
	report  report
	folders int
}

func newBench(ctx context.Context, o options) (_ *bench, err error) {
	if err := raiseFileLimit(); err != nil {
		return nil, err
	}
	b := &bench{options: o, report: report{out: os.Stdout, progress: os.Stderr}}
	if b.scratch, err = os.MkdirTemp(o.dir, "gonebox-bench-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if err := demandDisk(b.scratch); err != nil {
		return nil, err
	}
	if b.names, err = startNames(); err != nil {
		return nil, err
	}
	if b.binary == "" {
		if b.binary, err = build(ctx, b.scratch); err != nil {
			return nil, err
		}
	}
	if b.against != "" {
		b.before, err = buildRevision(ctx, filepath.Join(b.scratch, "revision"), b.against)
	}
	return b, err
}

func (b *bench) close() error {
	if b.names != nil {
		b.names.stop()
	}
	return os.RemoveAll(b.scratch)
}

// dataDir names a data folder that is not there yet.
func (b *bench) dataDir() string {
	b.folders++
	return filepath.Join(b.scratch, fmt.Sprintf("data-%d", b.folders))
}

// demandDisk refuses a folder in memory, where durable would mean nothing.
func demandDisk(dir string) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return fmt.Errorf("statfs %s: %w", dir, err)
	}
	if fs.Type == unix.TMPFS_MAGIC || fs.Type == unix.RAMFS_MAGIC {
		return fmt.Errorf("%s is in memory; name a folder on a real disk with --dir", dir)
	}
	return nil
}

// build compiles the service of this checkout into a folder.
func build(ctx context.Context, dir string) (string, error) {
	root, err := checkout()
	if err != nil {
		return "", err
	}
	return compile(ctx, root, dir)
}

// buildRevision compiles the service as it was at a revision of this checkout. The folder is made for its sources.
func buildRevision(ctx context.Context, dir, revision string) (string, error) {
	root, err := checkout()
	if err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	archive := dir + ".tar"
	for _, args := range [][]string{{"git", "-C", root, "archive", "--output", archive, revision}, {"tar", "-xf", archive, "-C", dir}} {
		if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("--against %s: %s: %w: %s", revision, args[0], err, bytes.TrimSpace(out))
		}
	}
	return compile(ctx, dir, dir)
}

// compile builds the service whose module is in root into the folder dir, as a release is built.
func compile(ctx context.Context, root, dir string) (string, error) {
	binary := filepath.Join(dir, "gonebox")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "./cmd/gonebox")
	cmd.Dir, cmd.Stderr, cmd.Env = root, os.Stderr, append(os.Environ(), "CGO_ENABLED=0")
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build gonebox: %w", err)
	}
	return binary, nil
}

// checkout is the folder of the service's module: the nearest above the working folder that has its go.mod.
func checkout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module github.com/gonebox/gonebox\n") {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("run the bench inside a checkout of gonebox, or name a binary with --gonebox")
		}
		dir = up
	}
}

// raiseFileLimit lets this process and its children open as many files as the system allows.
func raiseFileLimit() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read the limit of open files: %w", err)
	}
	limit.Cur = limit.Max
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("raise the limit of open files: %w", err)
	}
	return nil
}

// fileLimit is how many files a process may open.
func fileLimit() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<30))
}

// machine describes where the figures were taken.
func machine(dir string) string {
	var name unix.Utsname
	_ = unix.Uname(&name) // an empty name says that it is unknown
	var fs unix.Statfs_t
	_ = unix.Statfs(dir, &fs)
	model := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	release, _, _ := strings.Cut(unix.ByteSliceToString(name.Release[:]), "-") // without the distribution's part
	return fmt.Sprintf("%d cores of %s, Linux %s, %s, data on %s, %s",
		runtime.NumCPU(), model, release, runtime.Version(), fileSystem(fs.Type), time.Now().UTC().Format(time.DateOnly))
}

func fileSystem(magic int64) string {
	switch magic {
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlayfs"
	}
	return fmt.Sprintf("file system %#x", magic)
}
