package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

func TestInvitationIsAddedUsedListedAndRemoved(t *testing.T) {
	s := apptest.Start(t, apptest.Options{Set: map[string]string{
		"access.registration": "invite", "account.password.memory": "64KiB", "account.password.passes": "1",
	}})
	command := func(line string) string {
		t.Helper()
		got := gonebox(t, line+" --data-dir "+s.Dir)
		if got.code != exitOK || got.err != "" {
			t.Fatalf("%s: code %d, %s", line, got.code, got.err)
		}
		return got.out
	}
	var added, unused inviteRow
	if err := json.Unmarshal([]byte(command("invite add --note ada --for 100000h --json")), &added); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(command("invite add --json")), &unused); err != nil || added.ExpiresAt == nil || unused.ExpiresAt != nil {
		t.Fatalf("%+v, %+v, %v", added, unused, err)
	}
	register := func(email, code string) int {
		return s.Call(http.MethodPost, "/auth/register", "", map[string]string{"email": email, "password": "correct horse", "invite": code}).Status
	}
	if first, again := register("ada@example.org", added.Code), register("bob@example.org", added.Code); first != 201 || again != 403 {
		t.Errorf("the code registered with %d, then %d", first, again)
	}
	list := command("invite list")
	if strings.Contains(list, added.Code) || strings.Count(list, "\n") != 3 || !strings.Contains(list, "acc_") {
		t.Errorf("list:\n%s", list)
	}
	command("invite remove " + string(unused.ID))
	if status := register("bob@example.org", unused.Code); status != 403 {
		t.Errorf("a removed invitation registers with %d", status)
	}
	gonebox(t, "invite remove "+string(unused.ID)+" --data-dir "+s.Dir).oneErrorLine(t, "remove", exitFailure, "there is no invitation")
}
