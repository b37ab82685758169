package main

import (
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/clock"
)

func TestMailboxIsShownAndEnded(t *testing.T) {
	s := apptest.Start(t, apptest.Options{})
	s.Clock.Advance(clock.System().Now().Sub(s.Clock.Now())) // the command has the system's clock
	var box struct{ Address, Token string }
	s.Call("POST", "/mailboxes", "", nil).Into(t, &box)
	command := func(line string) outcome { return gonebox(t, line+" "+box.Address+" --data-dir "+s.Dir) }
	if got := command("mailbox show"); got.code != exitOK || !strings.Contains(got.out, box.Address) || !strings.Contains(got.out, "guest") {
		t.Errorf("%+v", got)
	}
	if got := command("mailbox end"); got.code != exitOK || !strings.Contains(got.out, "Ended "+box.Address) {
		t.Errorf("%+v", got)
	}
	if a := s.Call("GET", "/mailboxes/me", box.Token, nil); a.Status != 401 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if got := command("mailbox show"); got.code != exitFailure || !strings.Contains(got.err, "no live mailbox") {
		t.Errorf("%+v", got)
	}
}
