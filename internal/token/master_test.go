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
		t.Fatalf("LoadMaster = %d octets, %v, want 32 and no earlier secrets", len(made.Current), err)
	}
	info, err := os.Stat(filepath.Join(dir, token.MasterFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s has the mode %v, %v, want 0600", token.MasterFile, info.Mode(), err)
	}
	again, err := token.LoadMaster(dir, "", "")
	if err != nil || !bytes.Equal(again.Current, made.Current) {
		t.Errorf("LoadMaster the second time = %x, %v, want the secret of the first", again.Current, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("the folder has %v, want the file of the secret alone", entries)
	}
	text, _ := os.ReadFile(filepath.Join(dir, token.MasterFile))
	configured, err := token.LoadMaster(t.TempDir(), string(text), "")
	if err != nil || !bytes.Equal(configured.Current, made.Current) {
		t.Errorf("LoadMaster of the text in the file = %x, %v, want the secret of the file", configured.Current, err)
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
			t.Errorf("one start has the secret %x, the first %x, want one secret", s, secrets[0])
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
			t.Errorf("%s: LoadMaster = %d octets, %v, want an error that says %q and names %s", name, len(secret.Current), err, c.says, path)
		}
		if after, _ := os.ReadFile(path); string(after) != c.text {
			t.Errorf("%s: the file was changed, want %v", name, c.text)
		}
	}
	dir := t.TempDir()
	os.Mkdir(filepath.Join(dir, token.MasterFile), 0o700)
	if _, err := token.LoadMaster(dir, "", ""); err == nil {
		t.Error("LoadMaster of a folder in place of the file returned no error, want one")
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
			t.Errorf("LoadMaster(%q) = %x, %v, want %x", text, got.Current, err, want)
		}
	}
	for _, bad := range []string{
		"correct horse battery staple", hex.EncodeToString(want[:31]), base64.StdEncoding.EncodeToString(want[:31]), strings.Repeat("ab", 22), "=", " ",
	} {
		if got, err := token.LoadMaster(dir, bad, ""); err == nil || strings.Contains(err.Error(), bad) && len(bad) > 1 {
			t.Errorf("LoadMaster(%q) = %x, %v, want an error that does not quote it", bad, got.Current, err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("the folder has %v although the secret is configured, want no file", entries)
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
			t.Fatalf("LoadMaster after a rotation: %d secrets, %v, want the %d that RotateMaster returned", len(loaded.All()), err, len(rotated.All()))
		}
		if bytes.Equal(loaded.Current, earlier[0]) || !slices.EqualFunc(loaded.Previous, earlier[:min(len(earlier), 32)], bytes.Equal) {
			t.Fatalf("after %d rotations: %d earlier secrets, the secret is the last one: %t; want at most 32, the newest first, and a new secret", len(earlier), len(loaded.Previous), bytes.Equal(loaded.Current, earlier[0]))
		}
		earlier = slices.Insert(earlier, 0, loaded.Current)
	}
	for _, name := range []string{token.MasterFile, token.PreviousFile} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v, %v, want 0600", name, info.Mode(), err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("the folder has %v, want the files of the secret and of the earlier ones", entries)
	}
	if err := os.WriteFile(filepath.Join(dir, token.PreviousFile), []byte("damaged\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := token.LoadMaster(dir, "", ""); err == nil || !strings.Contains(err.Error(), token.PreviousFile) || strings.Contains(err.Error(), "damaged") {
		t.Errorf("LoadMaster with damaged earlier secrets: %v, want an error that names %s and does not quote it", err, token.PreviousFile)
	}
}

func TestLoadMasterUsesTheConfiguredEarlierSecrets(t *testing.T) {
	key, first, second := token.FormatMaster(token.NewMaster()), token.NewMaster(), token.NewMaster()
	m, err := token.LoadMaster("", key, token.FormatMaster(first)+", "+hex.EncodeToString(second))
	if err != nil || !slices.EqualFunc(m.Previous, [][]byte{first, second}, bytes.Equal) {
		t.Errorf("LoadMaster = %x, %v, want both of the earlier secrets", m.Previous, err)
	}
	if _, err := token.LoadMaster("", key, "passphrase"); err == nil || strings.Contains(err.Error(), "passphrase") {
		t.Errorf("LoadMaster with a passphrase as an earlier secret: %v, want an error that does not quote it", err)
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
		t.Errorf("Derive = %x, the same again %x, for another purpose %x; want the first two alike and the third another, none zero", a, again, b)
	}
	if _, err := token.Derive(master[:31], "x"); err == nil {
		t.Error("Derive of a master secret of 31 octets returned no error, want one")
	}
	if _, err := token.Derive(master, ""); err == nil {
		t.Error("Derive for an empty purpose returned no error, want one")
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
			t.Errorf("LoadMaster(%q) = %d octets, want at least 32", text, len(secret.Current))
		}
	})
}
