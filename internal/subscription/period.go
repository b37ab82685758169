package subscription

import (
	"time"

	"github.com/gonebox/gonebox/internal/plan"
)

// end is when the n-th period ends of those that began at anchor: so many calendar months or years later in UTC, at the
// same time of day, on the anchor's day of the month or on the month's last where it has no such day. It counts from the
// anchor and not from the period before, so that a period that ends in February does not move all that follow.
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

// lateMax is how late a renewal may come and still go on from the end of the period before. One that comes later, after
// a long stop of the service, begins anew: nobody pays for time in which there was no service.
const lateMax = 24 * time.Hour

// renewed is a subscription one period later, bought now for a price.
func (s Subscription) renewed(now time.Time, price int64) Subscription {
	s.period++
	if now.Sub(s.PeriodEnd) > lateMax {
		s.anchor, s.period = now, 1
	}
	s.PeriodEnd, s.Price = end(s.anchor, s.Interval, s.period), price
	return s
}
