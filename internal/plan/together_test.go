package plan_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/plan"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

func TestTogetherHasTheCodeOfTheBetterPlan(t *testing.T) {
	c := plan.Default()
	for _, example := range []struct {
		codes []string
		want  string
	}{
		{nil, "free"},
		{[]string{"free"}, "free"},
		{[]string{"plus"}, "plus"},
		{[]string{"free", "plus"}, "plus"},
		{[]string{"plus", "free"}, "plus"},
		{[]string{"pro", "plus"}, "pro"},
		{[]string{"plus", "pro"}, "pro"},
		{[]string{"plus", "plus"}, "plus"},
		{[]string{"plus", ""}, "plus"},
		{[]string{"gone", "plus"}, "plus"},
		{[]string{"plus", "gone"}, "plus"},
		{[]string{"gone", "guest"}, "free"},
	} {
		got := c.Together(example.codes...)
		if want := find(t, example.want); !reflect.DeepEqual(got, want) {
			t.Errorf("%v together are %+v, want %+v", example.codes, got, want)
		}
	}
}

// A plan made for one account may be better in one entitlement and worse in another than the one it buys.
func TestTogetherHasTheBestOfEachEntitlement(t *testing.T) {
	partner := plan.Default().Free()
	partner.Code, partner.Name = "partner", "Partner"
	partner.Entitlements.MailboxesMax = 1_000_000
	partner.Entitlements.KeysCalls = ratelimit.Limit{{Count: 1_000_000, Per: time.Minute}, {Count: 60, Per: time.Hour}} // a minute's burst, a trickle after it
	c, err := plan.New(plan.Default().Guest(), append(plan.Default().All(), partner)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, codes := range [][]string{{"partner", "pro"}, {"pro", "partner"}} {
		got := c.Together(codes...)
		want := find(t, "pro").Entitlements
		want.MailboxesMax = 1_000_000
		if !reflect.DeepEqual(got.Entitlements, want) || got.Code != codes[1] || got.Tier() != plan.TierPaid {
			t.Errorf("Together(%q) = %+v, want the code %s, the paid tier and the entitlements %+v", codes, got, codes[1], want)
		}
	}
}

func TestPlanIsSoldForIntervalsWithAPrice(t *testing.T) {
	monthly := plan.Plan{Prices: plan.Prices{Monthly: 7}}
	for _, example := range []struct {
		plan     plan.Plan
		interval plan.Interval
		points   int64
		sold     bool
	}{
		{find(t, "plus"), plan.Monthly, 50, true},
		{find(t, "plus"), plan.Yearly, 500, true},
		{monthly, plan.Monthly, 7, true},
		{monthly, plan.Yearly, 0, false},
		{plan.Default().Free(), plan.Monthly, 0, false},
		{find(t, "pro"), "weekly", 0, false},
	} {
		if points, sold := example.plan.Price(example.interval); points != example.points || sold != example.sold {
			t.Errorf("%s %s costs %d, %t, want %v and %v", example.plan.Code, example.interval, points, sold, example.points, example.sold)
		}
	}
}
