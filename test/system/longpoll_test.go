package system_test

import (
	"io"
	"net/http"
	"strings"
)

// longPoll starts a call that waits for mail, and returns a channel for the answer once the service waits.
func (s *service) longPoll(box mailbox) <-chan string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+"/mailboxes/me/messages?wait=60", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+box.Token)
	answer := make(chan string, 1)
	go func() {
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			answer <- err.Error()
			return
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		answer <- strings.TrimSpace(string(text))
	}()
	await(s.t, "a long-poll that waits", func() bool {
		return s.value("gonebox_waits ") > 0
	})
	return answer
}
