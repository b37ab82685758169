package main

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// commit is what the version depends on beside CHANGELOG.md.
type commit struct {
	hash  string // abbreviated
	date  time.Time
	tags  []string // all of the form v1.2.3, of the repository
	here  []string // those of them that the commit has
	dirty bool     // whether the work tree has uncommitted changes
}

// heading matches a version in CHANGELOG.md, and the heading of changes that no version has yet.
var heading = regexp.MustCompile(`(?m)^## \[?(?:v?(\d+\.\d+\.\d+)|(?i:unreleased))\b`)

// versionOf returns the version of a commit: that of the newest heading of CHANGELOG.md until its tag exists and on the tagged
// commit, and between releases the next one with -dev and the commit. It fails where a tag of the commit contradicts the
// changelog.
func versionOf(changelog string, c commit) (string, error) {
	newest, released := "", ""
	for i, m := range heading.FindAllStringSubmatch(changelog, -1) {
		if i == 0 {
			newest = m[1]
		}
		if m[1] != "" {
			released = m[1]
			break
		}
	}
	for _, tag := range c.here {
		if tag != "v"+newest {
			return "", fmt.Errorf("the commit has the tag %s, and the newest heading of CHANGELOG.md is %q", tag, "## "+cmp.Or(newest, "Unreleased"))
		}
	}
	if newest != "" && !c.dirty && (len(c.here) > 0 || !slices.Contains(c.tags, "v"+newest)) {
		return newest, nil
	}
	next := cmp.Or(released, "0.1.0")
	if slices.Contains(c.tags, "v"+released) {
		next = nextPatch(released) // sorts before every version that can follow
	}
	version := next + "-dev.g" + c.hash // a hash of digits alone would be a number, which has no leading zeros
	if c.dirty {
		version += ".dirty"
	}
	return version, nil
}

func nextPatch(version string) string {
	dot := strings.LastIndexByte(version, '.')
	patch, _ := strconv.Atoi(version[dot+1:])
	return version[:dot+1] + strconv.Itoa(patch+1)
}

// readCommit asks git about the commit that is checked out.
func readCommit(ctx context.Context, root string) (c commit, err error) {
	git := func(args ...string) string {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = root
		out, e := cmd.Output()
		if e != nil && err == nil {
			err = fmt.Errorf("git %s: %w", strings.Join(args, " "), e)
		}
		return strings.TrimSpace(string(out))
	}
	c.hash = git("rev-parse", "--short=12", "HEAD")
	seconds, _ := strconv.ParseInt(git("log", "-1", "--format=%ct"), 10, 64)
	c.date = time.Unix(seconds, 0).UTC()
	c.tags = strings.Fields(git("tag", "--list", "v[0-9]*"))
	c.here = strings.Fields(git("tag", "--points-at", "HEAD", "--list", "v[0-9]*"))
	c.dirty = git("status", "--porcelain") != ""
	return c, err
}
