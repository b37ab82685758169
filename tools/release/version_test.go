package main

import "testing"

func TestVersionComesFromChangelog(t *testing.T) {
	const first, second, unreleased = "# Changelog\n\n## 0.1.0\n\n- One.\n", "## 0.2.0 (2026-02-03)\n\n## 0.1.9\n", "# Changelog\n\n## Unreleased\n\n- Two.\n\n## 0.1.9\n"
	for _, c := range []struct {
		name, changelog string
		commit          commit
		want            string // "" for an error
	}{
		{"before the first tag", first, commit{hash: "abc"}, "0.1.0"},
		{"the tagged commit", first, commit{hash: "abc", tags: []string{"v0.1.0"}, here: []string{"v0.1.0"}}, "0.1.0"},
		{"after the tag", first, commit{hash: "abc", tags: []string{"v0.1.0"}}, "0.1.1-dev.gabc"},
		{"a heading that was added after the tag", second, commit{hash: "abc", tags: []string{"v0.1.9"}}, "0.2.0"},
		{"changes without a version", unreleased, commit{hash: "abc", tags: []string{"v0.1.9"}}, "0.1.10-dev.gabc"},
		{"changes without a version and no tag", unreleased, commit{hash: "abc"}, "0.1.9-dev.gabc"},
		{"no version at all", "# Changelog\n\n## Unreleased\n", commit{hash: "012"}, "0.1.0-dev.g012"},
		{"no changelog", "", commit{hash: "abc"}, "0.1.0-dev.gabc"},
		{"uncommitted changes", first, commit{hash: "abc", dirty: true}, "0.1.0-dev.gabc.dirty"},
		{"uncommitted changes on the tag", first, commit{hash: "abc", tags: []string{"v0.1.0"}, here: []string{"v0.1.0"}, dirty: true}, "0.1.1-dev.gabc.dirty"},
		{"another tag", first, commit{hash: "abc", tags: []string{"v0.2.0"}, here: []string{"v0.2.0"}}, ""},
		{"a tag without a version in the changelog", unreleased, commit{hash: "abc", tags: []string{"v0.1.9"}, here: []string{"v0.1.9"}}, ""},
	} {
		got, err := versionOf(c.changelog, c.commit)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: versionOf(%q, %+v) = %q, %v, want %q", c.name, c.changelog, c.commit, got, err, c.want)
		}
	}
}
