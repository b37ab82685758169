package subscription

import (
	"time"

	"github.com/gonebox/gonebox/internal/plan"
)

// end returns the end of the n-th period of those that began at anchor: n calendar months or years later in UTC, at the same
// time of day, on the anchor's day of the month or the last day of a shorter month. It counts from the anchor and not from
// the previous period, so that a period that ends in February does not shift all later ones.
func end(anchor time.Time, i plan.Interval, n int) time.Time {
	anchor = anchor.UTC()
	months := n
	if i == plan.Yearly {
		months *= 12
	}
	year, month, day := anchor.Date()
	first := time.Date(year, month+time.Month(months), 1, anchor.Hour(), anchor.Minute(), anchor.Second(), anchor.Nanosecond(), time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(day, last)-1)
}

// lateMax is how late a renewal may be and still continue from the end of the previous period. A later one, after a
// long outage of the service, starts a new row of periods, so that no time of the outage is charged. Shorter outages
// are charged, so that the end of a period stays on its day.
const lateMax = 24 * time.Hour

// renewed returns the subscription with its next period, renewed now for a price. The price is that of the new period
// only.
func (s Subscription) renewed(now time.Time, price int64) Subscription {
	s.period++
	if now.Sub(s.PeriodEnd) > lateMax {
		s.anchor, s.period = now, 1
	}
	s.PeriodEnd, s.Price = end(s.anchor, s.Interval, s.period), price
	return s
}
