package inbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Store keeps mailboxes with their tokens in a folder, which only the user may read. Each mailbox is a file of its own,
// so that commands which run at the same time do not overwrite each other's changes without any lock. A file is written
// under a temporary name and then renamed, so that a reader never sees half of it.
type Store struct{ dir string }

// NewStore returns the Store in the folder gonebox/inbox of the user's configuration folder, which is XDG_CONFIG_HOME,
// AppData (Windows) or HOME/.config. environ is the environment of the process, as os.Environ returns it. The first Add
// creates the folder.
func NewStore(environ []string) (*Store, error) {
	values := make(map[string]string)
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	dir := values["XDG_CONFIG_HOME"]
	if dir == "" && values["AppData"] != "" {
		dir = values["AppData"]
	}
	if dir == "" && values["HOME"] != "" {
		dir = filepath.Join(values["HOME"], ".config")
	}
	if !filepath.IsAbs(dir) {
		return nil, errors.New("the user has no configuration folder: set HOME or XDG_CONFIG_HOME")
	}
	return &Store{dir: filepath.Join(dir, "gonebox", "inbox")}, nil
}

// Add stores a mailbox. It replaces one with the same address on the same service.
func (s *Store) Add(m *Mailbox) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("keep the token of %s: %w", m.Address, err)
	}
	file, err := os.CreateTemp(s.dir, ".new-*") // with mode 0600
	if err != nil {
		return fmt.Errorf("keep the token of %s: %w", m.Address, err)
	}
	defer os.Remove(file.Name()) // fails without effect after the rename
	_, err = file.Write(append(text, '\n'))
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), s.path(m))
	}
	if err != nil {
		return fmt.Errorf("keep the token of %s: %w", m.Address, err)
	}
	return nil
}

// Remove deletes the file of a mailbox. The mailbox itself continues to exist on its service.
func (s *Store) Remove(m *Mailbox) error { return os.Remove(s.path(m)) }

// List returns the stored mailboxes, newest first: those of the service at url, or of every service if url is empty. Some
// of them may have ended, which only their service knows: the clock of this machine may be wrong. A missing folder is an
// empty store.
func (s *Store) List(url string) ([]*Mailbox, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []*Mailbox
	for _, e := range entries {
		name := filepath.Join(s.dir, e.Name())
		if filepath.Ext(name) != ".json" {
			continue
		}
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another command has just removed it
		}
		m := &Mailbox{}
		if err == nil {
			err = json.Unmarshal(text, m)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w; delete it if it is damaged", name, err)
		}
		if url == "" || m.URL == url {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *Mailbox) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.Address, b.Address))
	})
	return all, nil
}

// path returns the path of a mailbox's file. The name is a hash of the URL and the address: the address comes from the
// service, which may not be trustworthy, and a name that contains it could lead out of the folder ("../").
func (s *Store) path(m *Mailbox) string {
	sum := sha256.Sum256([]byte(m.URL + "\n" + m.Address))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])+".json")
}
