package main

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// someSecret returns a master secret as the configuration has it.
func someSecret(letter string) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, 32)))
}

func TestMigrateReportsVersions(t *testing.T) {
	dir := t.TempDir()
	var r struct{ From, To int }
	got := gonebox(t, "migrate --json --data-dir "+dir)
	if err := json.Unmarshal([]byte(got.out), &r); err != nil || got.code != exitOK || r.To <= r.From {
		t.Errorf("code %d, %v\n%s%s", got.code, err, got.out, got.err)
	}
	if got = gonebox(t, "migrate --data-dir "+dir); got.code != exitOK || !strings.Contains(got.out, "already") {
		t.Errorf("the second time: code %d\n%s%s", got.code, got.out, got.err)
	}
}

func TestImpossibleMovesAreRefused(t *testing.T) {
	full, kept, empty := t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{full, kept} {
		if got := gonebox(t, "migrate --data-dir "+dir); got.code != exitOK {
			t.Fatal(got.err)
		}
	}
	if err := os.WriteFile(filepath.Join(kept, "secret.key"), []byte(someSecret("k")), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"migrate --from x --to sqlite:" + empty:                                                                                               "--from: must be sqlite:PATH or postgres://",
		"migrate --from sqlite: --to sqlite:" + empty:                                                                                         "--from: must be sqlite:PATH or postgres://",
		"migrate --from sqlite:" + full + " --to mysql://x":                                                                                   "--to: must be sqlite:PATH or postgres://",
		"migrate --from sqlite:" + full + " --to sqlite:" + full + "/gonebox.db":                                                              "--from and --to are the same",
		"migrate --from sqlite:" + full + " --data-dir " + full:                                                                               "--from and --to are the same",
		"migrate --from sqlite:" + empty + " --to sqlite:" + full:                                                                             "--from: there is no database",
		"migrate --from sqlite:" + full + " --to sqlite:" + empty:                                                                             "secrets.key: set it to the secret of the service",
		"migrate --from sqlite:" + kept + " --to sqlite:" + empty:                                                                             "GONEBOX_SECRETS_KEY_FILE=" + kept,
		"migrate --from sqlite:" + kept + " --to sqlite:" + empty + " --set secrets.key=" + someSecret("o"):                                   "secrets.key is not the contents of",
		"migrate --from sqlite:" + full + " --to postgres://user:hidden@127.0.0.1:1/x?connect_timeout=1 --set secrets.key=" + someSecret("k"): "postgres://127.0.0.1:1/x: ",
	} {
		got := gonebox(t, line)
		got.oneErrorLine(t, line, exitFailure, want)
		if strings.Contains(got.err, "hidden") {
			t.Errorf("%s: the password is printed: %s", line, got.err)
		}
	}
}

func TestMovePrintsEveryTable(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	if got := gonebox(t, "migrate --data-dir "+from); got.code != exitOK {
		t.Fatal(got.err)
	}
	if got := gonebox(t, "page put terms --title Terms --html <p>x</p> --data-dir "+from); got.code != exitOK {
		t.Fatal(got.err)
	}
	line := "migrate --from sqlite:" + from + "/gonebox.db --data-dir " + to + " --set secrets.key=" + someSecret("k")
	got := gonebox(t, line)
	for _, want := range []string{"copy    page: 1 of 1 rows\n", "verify  page: 1 of 1 rows\n", "\npage ", "\nmailbox ", "All rows are identical in both databases."} {
		if got.code != exitOK || !strings.Contains(got.out, want) {
			t.Errorf("no %q in code %d\n%s%s", want, got.code, got.out, got.err)
		}
	}
	if got = gonebox(t, line); got.code != exitOK || !strings.Contains(got.out, "nothing was done") {
		t.Errorf("the second time: code %d\n%s%s", got.code, got.out, got.err)
	}
	if got = gonebox(t, "page list --data-dir "+to); !strings.Contains(got.out, "terms") {
		t.Errorf("the page was not moved:\n%s%s", got.out, got.err)
	}
}
