package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/db/move"
	"github.com/gonebox/gonebox/internal/token"
)

// demandSecret demands the secret that everything is signed with where processes share a database. They must share it, too,
// so none is made up for one of them: its tokens would be void in the others.
func (a *App) demandSecret() error {
	if a.shared() && a.cfg.Secrets.Key == "" {
		return errors.New("secrets.key: must be set where database.url is, the same for every process; make one with: openssl rand -base64 32")
	}
	return nil
}

// proveSecret makes sure that the service as it will be has the secret of the service as it was, and derives a proof of it
// that tells nothing else about it.
func proveSecret(cfg *config.Config, places ...string) ([]byte, error) {
	for _, place := range places {
		dir, ok := folder(place)
		if !ok {
			continue
		}
		path := filepath.Join(dir, token.MasterFile)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		generated, err := token.LoadMaster(dir, "")
		if err != nil {
			return nil, err
		}
		if cfg.Secrets.Key == "" {
			return nil, fmt.Errorf("secrets.key: set it to what %s holds (GONEBOX_SECRETS_KEY_FILE=%s): what is moved is signed and sealed with it", path, path)
		}
		if configured, err := token.LoadMaster(dir, string(cfg.Secrets.Key)); err != nil || !bytes.Equal(configured, generated) {
			return nil, errors.Join(fmt.Errorf("secrets.key is not what %s holds: every token and two-factor secret would end", path), err)
		}
	}
	if cfg.Secrets.Key == "" {
		return nil, errors.New("secrets.key: set it to the secret of the service that is moved: its data are signed and sealed with it")
	}
	master, err := token.LoadMaster("", string(cfg.Secrets.Key))
	if err != nil {
		return nil, err
	}
	return secretProof(master)
}

func secretProof(master []byte) ([]byte, error) {
	proof, err := token.Derive(master, "proof of the master secret")
	return proof[:], err
}

// sameSecret refuses to serve data that were moved here with another secret: no token would be valid and no second factor
// could be opened.
func (a *App) sameSecret(ctx context.Context, master []byte) error {
	mark, moved, err := move.Marked(ctx, a.db)
	if err != nil || !moved {
		return err
	}
	proof, err := secretProof(master)
	if err == nil && !bytes.Equal(proof, mark.Secret) {
		err = fmt.Errorf("secrets.key is not the secret that the data had when they were moved here from %s on %s",
			mark.Source, mark.FinishedAt.Format(time.DateOnly))
	}
	return err
}
