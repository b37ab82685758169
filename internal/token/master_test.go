package token_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gonebox/gonebox/internal/token"
)

func TestLoadMasterGeneratesTheSecretOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data") // does not exist yet
	made, err := token.LoadMaster(dir, "", "")
	if err != nil || len(made.Current) != 32 || made.Previous != nil {
		t.Fatalf("LoadMaster = %d bytes, %v", len(made.Current), err)
	}
	info, err := os.Stat(filepath.Join(dir, token.MasterFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	again, err := token.LoadMaster(dir, "", "")
	if err != nil || !bytes.Equal(again.Current, made.Current) {
		t.Errorf("the second start has another secret: %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
	text, _ := os.ReadFile(filepath.Join(dir, token.MasterFile))
	configured, err := token.LoadMaster(t.TempDir(), string(text), "")
	if err != nil || !bytes.Equal(configured.Current, made.Current) {
		t.Errorf("the file's text does not work as secrets.key: %v", err)
	}
}

func TestConcurrentStartsShareOneSecret(t *testing.T) {
	dir := t.TempDir()
	var secrets [8][]byte
	var starts sync.WaitGroup
	for i := range secrets {
		starts.Go(func() {
			m, err := token.LoadMaster(dir, "", "")
			if err != nil {
				t.Error(err)
			}
			secrets[i] = m.Current
		})
	}
	starts.Wait()
	for _, s := range secrets[1:] {
		if !bytes.Equal(s, secrets[0]) {
			t.Error("two secrets")
		}
	}
}

func TestLoadMasterRejectsABadFile(t *testing.T) {
	good := base64.StdEncoding.EncodeToString(make([]byte, 32))
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		says string
	}{
		"readable by the group": {good, 0o640, "chmod 600"},
		"readable by others":    {good, 0o604, "chmod 600"},
		"empty":                 {"", 0o600, "32 bytes"},
		"short":                 {good[:20], 0o600, "32 bytes"},
		"long":                  {strings.Repeat(good, 3), 0o600, "32 bytes"},
		"no base64":             {strings.Repeat("!", 44), 0o600, "32 bytes"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, token.MasterFile)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		secret, err := token.LoadMaster(dir, "", "")
		if err == nil || secret.Current != nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: LoadMaster = %d bytes, %v", name, len(secret.Current), err)
		}
		if after, _ := os.ReadFile(path); string(after) != c.text {
			t.Errorf("%s: the file was changed", name)
		}
	}
	dir := t.TempDir()
	os.Mkdir(filepath.Join(dir, token.MasterFile), 0o700)
	if _, err := token.LoadMaster(dir, "", ""); err == nil {
		t.Error("a folder was taken for the secret")
	}
}

func TestLoadMasterUsesTheConfiguredSecret(t *testing.T) {
	want := bytes.Repeat([]byte{0xfb, 0xff, 0x3e}, 11) // 33 bytes that need + and / in base64
	dir := t.TempDir()
	for _, text := range []string{
		hex.EncodeToString(want), strings.ToUpper(hex.EncodeToString(want)), base64.StdEncoding.EncodeToString(want),
		base64.RawURLEncoding.EncodeToString(want), "  " + base64.URLEncoding.EncodeToString(want) + "\n",
	} {
		if got, err := token.LoadMaster(dir, text, ""); err != nil || !bytes.Equal(got.Current, want) {
			t.Errorf("LoadMaster(%q) = %x, %v", text, got.Current, err)
		}
	}
	for _, bad := range []string{
		"correct horse battery staple", hex.EncodeToString(want[:31]), base64.StdEncoding.EncodeToString(want[:31]), strings.Repeat("ab", 22), "=", " ",
	} {
		if got, err := token.LoadMaster(dir, bad, ""); err == nil || strings.Contains(err.Error(), bad) && len(bad) > 1 {
			t.Errorf("LoadMaster(%q) = %x, %v", bad, got.Current, err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("a file was made although the secret is configured: %v", entries)
	}
}

func TestRotateMasterKeepsEarlierSecrets(t *testing.T) {
	dir := t.TempDir()
	first, err := token.LoadMaster(dir, "", "")
	if err != nil {
		t.Fatal(err)
	}
	earlier := [][]byte{first.Current}
	for range 40 {
		rotated, err := token.RotateMaster(dir)
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := token.LoadMaster(dir, "", "")
		if err != nil || !slices.EqualFunc(loaded.All(), rotated.All(), bytes.Equal) {
			t.Fatalf("LoadMaster returns other secrets than RotateMaster: %v", err)
		}
		if bytes.Equal(loaded.Current, earlier[0]) || !slices.EqualFunc(loaded.Previous, earlier[:min(len(earlier), 32)], bytes.Equal) {
			t.Fatalf("after %d rotations there are %d earlier secrets, and the secret is new: %v", len(earlier), len(loaded.Previous), !bytes.Equal(loaded.Current, earlier[0]))
		}
		earlier = slices.Insert(earlier, 0, loaded.Current)
	}
	for _, name := range []string{token.MasterFile, token.PreviousFile} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
	if err := os.WriteFile(filepath.Join(dir, token.PreviousFile), []byte("damaged\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := token.LoadMaster(dir, "", ""); err == nil || !strings.Contains(err.Error(), token.PreviousFile) || strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestLoadMasterUsesTheConfiguredEarlierSecrets(t *testing.T) {
	key, first, second := token.FormatMaster(token.NewMaster()), token.NewMaster(), token.NewMaster()
	m, err := token.LoadMaster("", key, token.FormatMaster(first)+", "+hex.EncodeToString(second))
	if err != nil || !slices.EqualFunc(m.Previous, [][]byte{first, second}, bytes.Equal) {
		t.Errorf("%d earlier secrets, %v", len(m.Previous), err)
	}
	if _, err := token.LoadMaster("", key, "passphrase"); err == nil || strings.Contains(err.Error(), "passphrase") {
		t.Errorf("a passphrase: %v", err)
	}
}

func TestDeriveSeparatesPurposes(t *testing.T) {
	master := bytes.Repeat([]byte{7}, 32)
	a, err := token.Derive(master, "mailbox-token/1")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := token.Derive(master, "two-factor/1")
	again, _ := token.Derive(master, "mailbox-token/1")
	if a == b || a != again || a == [32]byte{} {
		t.Error("purposes are not kept apart, or not repeatable")
	}
	if _, err := token.Derive(master[:31], "x"); err == nil {
		t.Error("a short master secret was taken")
	}
	if _, err := token.Derive(master, ""); err == nil {
		t.Error("an empty purpose was taken")
	}
}

func FuzzLoadMaster(f *testing.F) {
	f.Add(strings.Repeat("ab", 32))
	f.Add(base64.StdEncoding.EncodeToString(make([]byte, 40)))
	f.Add("correct horse battery staple")
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			return
		}
		if secret, err := token.LoadMaster(t.TempDir(), text, ""); err == nil && len(secret.Current) < 32 {
			t.Errorf("LoadMaster(%q) = %d bytes", text, len(secret.Current))
		}
	})
}
