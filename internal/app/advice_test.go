package app

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/raw"
)

func TestErrorsOfTheDataDirectorySayWhatToDo(t *testing.T) {
	cfg := &config.Config{DataDir: "/srv/gonebox"}
	for _, test := range []struct {
		err    error
		advice string // "": none
	}{
		{nil, ""},
		{errors.New("x"), ""},
		{&fs.PathError{Op: "open", Path: "/srv/gonebox/reserve", Err: fs.ErrPermission}, ": give data_dir (/srv/gonebox) and all in it to the user"},
		{fmt.Errorf("lock: %w", raw.ErrLocked), ": a service runs on data_dir (/srv/gonebox); stop it"},
		{fmt.Errorf("open: %w", db.ErrDamaged), ": restore data_dir (/srv/gonebox) from a backup"},
	} {
		got := withAdvice(cfg, withAdvice(cfg, test.err))
		if test.err == nil || test.advice == "" {
			if got != test.err {
				t.Errorf("withAdvice(%v) = %v, want the same", test.err, got)
			}
			continue
		}
		if !errors.Is(got, test.err) || !strings.HasPrefix(got.Error(), test.err.Error()+test.advice) || strings.Count(got.Error(), test.advice) != 1 {
			t.Errorf("withAdvice(%v) twice = %v, want it with %q once", test.err, got, test.advice)
		}
	}
}
