package subscription

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gonebox/gonebox/internal/plan"
)

func at(text string) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05", text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestPeriodsAreCalendarMonthsAndYears(t *testing.T) {
	for _, c := range []struct {
		anchor   string
		interval plan.Interval
		ends     []string
	}{
		{"2026-01-31 12:30:00", plan.Monthly, []string{"2026-02-28 12:30:00", "2026-03-31 12:30:00", "2026-04-30 12:30:00", "2026-05-31 12:30:00"}},
		{"2028-01-30 00:00:00", plan.Monthly, []string{"2028-02-29 00:00:00", "2028-03-30 00:00:00"}},
		{"2026-11-29 23:59:59", plan.Monthly, []string{"2026-12-29 23:59:59", "2027-01-29 23:59:59", "2027-02-28 23:59:59", "2027-03-29 23:59:59"}},
		{"2026-03-14 12:00:00", plan.Monthly, []string{"2026-04-14 12:00:00", "2026-05-14 12:00:00"}},
		{"2028-02-29 06:00:00", plan.Yearly, []string{"2029-02-28 06:00:00", "2030-02-28 06:00:00", "2031-02-28 06:00:00", "2032-02-29 06:00:00"}},
		{"2026-12-31 00:00:00", plan.Yearly, []string{"2027-12-31 00:00:00"}},
	} {
		for i, want := range c.ends {
			if got := end(at(c.anchor), c.interval, i+1); !got.Equal(at(want)) {
				t.Errorf("%s %s since %s ends %s, want %s", []string{"1st", "2nd", "3rd", "4th"}[i], c.interval, c.anchor, got, want)
			}
		}
	}
}

func TestPeriodsAreInUTC(t *testing.T) {
	hanoi := time.FixedZone("", 7*3600)
	local := time.Date(2026, 3, 1, 3, 0, 0, 0, hanoi) // still February in UTC
	if got, want := end(local, plan.Monthly, 1), at("2026-03-28 20:00:00"); !got.Equal(want) || got.Location() != time.UTC {
		t.Errorf("the period ends %s, want %s", got, want)
	}
}

// The n-th period ends in the n-th month after the anchor, on the anchor's day or the month's last, at the same time of day;
// renewing step by step gives the same.
func TestPeriodsKeepTheirDayOfTheMonth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		anchor := time.UnixMicro(rapid.Int64Range(0, 8e15).Draw(t, "anchor")).UTC()
		i := rapid.SampledFrom([]plan.Interval{plan.Monthly, plan.Yearly}).Draw(t, "interval")
		months := map[plan.Interval]int{plan.Monthly: 1, plan.Yearly: 12}[i]
		s := Subscription{Interval: i, PeriodEnd: end(anchor, i, 1), anchor: anchor, period: 1}
		for n := 2; n < rapid.IntRange(3, 60).Draw(t, "periods"); n++ {
			before := s.PeriodEnd
			s = s.renewed(before, 0)
			got := s.PeriodEnd
			year, month, day := anchor.Date()
			whole := (got.Year()-year)*12 + int(got.Month()-month)
			last := got.AddDate(0, 0, 1).Day() == 1
			if !got.After(before) || whole != n*months || got.Day() != day && !(last && got.Day() < day) || !sameTimeOfDay(got, anchor) {
				t.Fatalf("period %d since %s ends %s, want %d months later on the same day, or the last of the month, at the same time", n, anchor, got, n*months)
			}
		}
	})
}

func sameTimeOfDay(a, b time.Time) bool {
	return a.Sub(a.Truncate(24*time.Hour)) == b.Sub(b.Truncate(24*time.Hour))
}

func TestLateRenewalStartsANewRowOfPeriods(t *testing.T) {
	s := Subscription{Interval: plan.Monthly, PeriodEnd: at("2026-02-28 12:00:00"), anchor: at("2026-01-31 12:00:00"), period: 1}
	for now, want := range map[string]string{
		"2026-02-28 12:00:00": "2026-03-31 12:00:00",
		"2026-03-01 12:00:00": "2026-03-31 12:00:00",
		"2026-03-01 12:00:01": "2026-04-01 12:00:01",
		"2027-07-31 00:00:00": "2027-08-31 00:00:00",
	} {
		got := s.renewed(at(now), 7)
		if !got.PeriodEnd.Equal(at(want)) || got.Price != 7 {
			t.Errorf("renewed at %s until %s for %d, want %s", now, got.PeriodEnd, got.Price, want)
		}
	}
}
