// Command release makes everything that a release of Gonebox consists of, and publishes nothing. It writes archives, Debian
// and RPM packages, a container image, the clients' packages, a Helm chart and the rest into a folder, with their checksums.
//
// The output depends on the commit and on the versions of the tools alone: timestamps are that of the commit, archives are sorted, and modes
// and owners are fixed. Running it twice gives the same octets.
//
// docs/releasing.md says how a person publishes what it makes.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

func main() {
	root := flag.String("root", ".", "the root of the repository")
	dist := flag.String("dist", "dist", "the `folder` to write, which is emptied first")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *root, *dist)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root, dist string) error {
	r, err := newRelease(ctx, root, dist)
	if err != nil {
		return err
	}
	started := time.Now()
	fmt.Printf("Gonebox %s\n", r.version)
	if err := r.make(ctx); err != nil {
		return err
	}
	if err := r.list(os.Stdout); err != nil {
		return err
	}
	fmt.Printf("made in %s: %s\n", time.Since(started).Round(time.Second), r.dist)
	return nil
}

// newRelease returns the release of the commit that is checked out.
func newRelease(ctx context.Context, root, dist string) (*release, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	dist, err = filepath.Abs(dist)
	if err != nil {
		return nil, err
	}
	g, err := readCommit(ctx, root)
	if err != nil {
		return nil, err
	}
	changelog, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return nil, err
	}
	version, err := versionOf(string(changelog), g)
	if err != nil {
		return nil, err
	}
	return &release{root: root, dist: dist, version: version, date: g.date, platforms: allPlatforms()}, nil
}
