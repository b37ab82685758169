package blackbox_test

import (
	"net/http"
	"testing"
	"time"
)

func TestMailTMPages(t *testing.T) {
	t.Parallel()
	m := startMailTM(t, nil)
	address, _ := m.open("dora")
	for range 31 {
		m.receive(address)
		m.Clock.Advance(time.Second)
	}
	m.accept = "application/ld+json"
	for path, want := range map[string]struct {
		members    int
		next, prev any
	}{
		"/messages":        {30, "/messages?page=2", nil},
		"/messages?page=2": {1, nil, "/messages?page=1"},
		"/messages?page=3": {0, nil, "/messages?page=2"},
	} {
		page := m.object(http.MethodGet, path, "", 200)
		view := page["hydra:view"].(map[string]any)
		if len(page["hydra:member"].([]any)) != want.members || page["hydra:totalItems"] != 31.0 || view["hydra:next"] != want.next || view["hydra:previous"] != want.prev {
			t.Errorf("GET %s has the view %v, want %d of 31 members, the next page %v and the previous %v", path, view, want.members, want.next, want.prev)
		}
	}
}
