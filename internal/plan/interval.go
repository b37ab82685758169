package plan

// Interval is how long a paid period lasts (spec §2 Subscription input).
type Interval string

// The two intervals, of a calendar month and of a calendar year.
const (
	Monthly Interval = "monthly"
	Yearly  Interval = "yearly"
)

// Price is what one period of a plan costs in points. sold is false for a plan that is not sold for that interval, as
// the free one.
func (p Plan) Price(i Interval) (points int64, sold bool) {
	switch i {
	case Monthly:
		points = p.Prices.Monthly
	case Yearly:
		points = p.Prices.Yearly
	}
	return points, points > 0
}
