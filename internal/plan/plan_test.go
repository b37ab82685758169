package plan_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gonebox/gonebox/internal/plan"
)

const day = int64(24 * 60 * 60)

// TestDefault compares the default catalogue with the table in docs/spec/limits.md#quotas-of-plans, column by column.
func TestDefault(t *testing.T) {
	names := strings.Fields(`mailbox.ttl.default mailbox.ttl.max mailbox.lifetime.max mailboxes.max mail.daily.max
		raw.retention domains.max projects.max filters.max webhooks.max keys.max keys.mailbox_create keys.calls`)
	columns := []struct {
		plan   plan.Plan
		prices plan.Prices
		tier   plan.Tier
		values []any
	}{
		{plan.Default().Guest(), plan.Prices{}, plan.TierFree, []any{
			int64(3600), day, 7 * day, int64(50), int64(200), int64(900), int64(0), int64(0), int64(0), int64(0), int64(0), "60/1m", "120/1m",
		}},
		{plan.Default().Free(), plan.Prices{}, plan.TierFree, []any{
			day, 7 * day, 30 * day, int64(20), int64(1000), int64(900), int64(1), int64(1), int64(5), int64(1), int64(1), "60/1m", "120/1m",
		}},
		{find(t, "plus"), plan.Prices{Monthly: 50, Yearly: 500}, plan.TierPaid, []any{
			7 * day, 90 * day, 365 * day, int64(500), int64(20000), int64(3600), int64(5), int64(10), int64(50), int64(10), int64(10), "600/1m", "1200/1m",
		}},
		{find(t, "pro"), plan.Prices{Monthly: 200, Yearly: 2000}, plan.TierPaid, []any{
			30 * day, 365 * day, nil, int64(20000), int64(1000000), int64(3600), int64(50), int64(50), int64(500), int64(100), int64(100), "6000/1m", "12000/1m",
		}},
	}
	for _, c := range columns {
		if c.plan.Prices != c.prices || c.plan.Tier() != c.tier {
			t.Errorf("%s costs %+v and has the tier %s, want %+v and %s", c.plan.Code, c.plan.Prices, c.plan.Tier(), c.prices, c.tier)
		}
		want := map[string]any{}
		for i, name := range names {
			want[name] = c.values[i]
		}
		if diff := cmp.Diff(want, maps.Collect(c.plan.Entitlements.All())); diff != "" {
			t.Errorf("the entitlements of %s (-want +got):\n%s", c.plan.Code, diff)
		}
		var order []string
		for name := range c.plan.Entitlements.All() {
			order = append(order, name)
		}
		if diff := cmp.Diff(names, order); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	}
}

func find(t *testing.T, code string) plan.Plan {
	t.Helper()
	p, ok := plan.Default().Plan(code)
	if !ok {
		t.Fatalf("Plan(%q) found none, want the plan", code)
	}
	return p
}

func TestEntitlementsStopEarly(t *testing.T) {
	for name := range plan.Default().Free().Entitlements.All() {
		if name != "mailbox.ttl.default" {
			t.Fatalf(`went on to %s, want "mailbox.ttl.default"`, name)
		}
		break
	}
}

func TestCatalogue(t *testing.T) {
	c := plan.Default()
	var codes []string
	for _, p := range c.All() {
		codes = append(codes, p.Code)
	}
	if diff := cmp.Diff([]string{"free", "plus", "pro"}, codes); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
	for _, code := range []string{"guest", "", "Free", "gold"} {
		if p, ok := c.Plan(code); ok {
			t.Errorf("Plan(%q) = %+v, want none", code, p)
		}
	}
	c.All()[0].Name = "changed"
	if c.Free().Name != "Free" {
		t.Error("changing a plan of All() changed the catalogue, want All to return copies")
	}
}

func TestTierFollowsEitherPrice(t *testing.T) {
	yearly := plan.Plan{Prices: plan.Prices{Yearly: 1}}
	if yearly.Tier() != plan.TierPaid {
		t.Errorf("Tier() of a plan sold by the year alone = %s, want %s", yearly.Tier(), plan.TierPaid)
	}
}

func TestNewRejectsInvalidCatalogues(t *testing.T) {
	guest, free := plan.Plan{Code: "guest"}, plan.Plan{Code: "free"}
	for name, make := range map[string]func() (plan.Catalogue, error){
		"another guest": func() (plan.Catalogue, error) { return plan.New(free, free) },
		"no free plan":  func() (plan.Catalogue, error) { return plan.New(guest, plan.Plan{Code: "plus"}) },
		"a code twice":  func() (plan.Catalogue, error) { return plan.New(guest, free, free) },
		"guest for all": func() (plan.Catalogue, error) { return plan.New(guest, free, guest) },
		"no code":       func() (plan.Catalogue, error) { return plan.New(guest, free, plan.Plan{}) },
	} {
		if _, err := make(); err == nil {
			t.Errorf("%s: taken, want an error", name)
		}
	}
	if c, err := plan.New(guest, plan.Plan{Code: "plus"}, free); err != nil || c.All()[0].Code != "plus" {
		t.Errorf("New with the free plan last = %+v, %v, want plus first and no error", c, err)
	}
}
