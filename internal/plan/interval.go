package plan

// Interval is the length of a paid period. The values are stored and part of the API. An unknown one has no price.
type Interval string

// The two intervals, of a calendar month and of a calendar year.
const (
	Monthly Interval = "monthly"
	Yearly  Interval = "yearly"
)

// Price returns the price of one period of a plan in points. sold is false for a plan that is not sold for the interval, such
// as the free one.
func (p Plan) Price(i Interval) (points int64, sold bool) {
	switch i {
	case Monthly:
		points = p.Prices.Monthly
	case Yearly:
		points = p.Prices.Yearly
	}
	return points, points > 0
}
