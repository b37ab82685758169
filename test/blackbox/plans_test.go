package blackbox_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// offer is a plan as a client reads it.
type offer struct {
	Code, Name   string
	Prices       struct{ Monthly, Yearly *int64 }
	Entitlements map[string]any
}

func (s *service) offers() map[string]offer {
	s.t.Helper()
	all := make(map[string]offer)
	for _, p := range get[[]offer](s, "/plans", "") {
		all[p.Code] = p
	}
	return all
}

// freely is what the free plan grants, every entitlement by its public name (docs/spec/limits.md#quotas-of-plans).
func freely() map[string]any {
	return map[string]any{
		"mailbox.ttl.default": 86400.0, "mailbox.ttl.max": 7 * 86400.0, "mailbox.lifetime.max": 30 * 86400.0, "mailboxes.max": 20.0,
		"mail.daily.max": 1000.0, "raw.retention": 900.0, "domains.max": 1.0, "projects.max": 1.0, "filters.max": 5.0, "webhooks.max": 1.0, "keys.max": 1.0,
		"keys.mailbox_create": "60/1m", "keys.calls": "120/1m",
	}
}

func TestCatalogueHasPricesAndEntitlements(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	listed := get[[]offer](s, "/plans", "")
	var codes []string
	for _, p := range listed {
		codes = append(codes, p.Code)
	}
	if diff := cmp.Diff([]string{"free", "plus", "pro"}, codes); diff != "" {
		t.Errorf("in the order of the catalogue (-want +got):\n%s", diff)
	}
	all := s.offers()
	if diff := cmp.Diff(freely(), all["free"].Entitlements); diff != "" {
		t.Errorf("free (-want +got):\n%s", diff)
	}
	pro := freely()
	maps.Copy(pro, map[string]any{
		"mailbox.ttl.default": 30 * 86400.0, "mailbox.ttl.max": 365 * 86400.0, "mailbox.lifetime.max": nil, "mailboxes.max": 20000.0,
		"mail.daily.max": 1e6, "raw.retention": 3600.0, "domains.max": 50.0, "projects.max": 50.0, "filters.max": 500.0, "webhooks.max": 100.0, "keys.max": 100.0,
		"keys.mailbox_create": "6000/1m", "keys.calls": "12000/1m",
	})
	if diff := cmp.Diff(pro, all["pro"].Entitlements); diff != "" {
		t.Errorf("pro (-want +got):\n%s", diff)
	}
	for code, prices := range map[string][2]int64{"free": {0, 0}, "plus": {50, 500}, "pro": {200, 2000}} {
		p := all[code]
		if p.Prices.Monthly == nil || p.Prices.Yearly == nil || [2]int64{*p.Prices.Monthly, *p.Prices.Yearly} != prices || p.Name == "" {
			t.Errorf("GET /plans has %s as %+v, want a name and the prices %v", code, p, prices)
		}
	}
}

func TestCatalogueIsConfigurable(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"plans.plus.price.yearly": "0", "plans.plus.price.monthly": "7", "plans.plus.keys.calls": "5/1s, 9/1m", "limits.other": "3/1h"})
	plus := s.offers()["plus"]
	if plus.Prices.Yearly != nil || *plus.Prices.Monthly != 7 || plus.Entitlements["keys.calls"] != "5/1s, 9/1m" {
		t.Errorf("the plan plus is %+v, want it for 7 points a month, not by the year, with calls of 5/1s, 9/1m", plus)
	}
	a := s.call("GET", "/plans?code=plus", "", 422, "request.invalid")
	if p := problemOf(t, a); len(p.Errors) != 1 || p.Errors[0].Pointer != "?code" {
		t.Errorf("the problem is %s, want one error, at ?code", a.Body)
	}
	var list struct{ NextCursor json.RawMessage }
	if err := json.Unmarshal(s.call("GET", "/plans", "", 200, "").Body, &list); err != nil || string(list.NextCursor) != "null" {
		t.Errorf(`next cursor %s, %v, want NextCursor "null"`, list.NextCursor, err)
	}
	s.throttled("GET", "/plans", "")
}
