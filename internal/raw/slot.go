package raw

import "time"

// slot names a partition of a Table by the moment from which on all of it may go: in seconds since 1970. Records whose class is
// long share wider partitions, so that there are some hundred of them at most; what is over in one of those is deleted
// before the rest of it goes. Versions before counted quarters of an hour.
type slot int64

const (
	oldSlots  slot = 1e7 // from here on a slot is seconds
	wideShift      = 40  // in a wide one, the number of periods that it covers stands above the seconds
	wideSlots slot = 1 << wideShift

	longClass = 2 * time.Hour // what is kept for longer goes to wide partitions,
	wideParts = 180           // of which a class has so many
)

// slotOf is where records of a class go that may go at a time.
func slotOf(goes time.Time, class time.Duration) slot {
	periods := int64(1)
	if class > longClass {
		periods = int64(class/wideParts/period) + 1
	}
	width := periods * int64(period/time.Second)
	end := (floorDiv(goes.Unix(), width) + 1) * width
	if periods == 1 {
		return slot(end)
	}
	return slot(periods)<<wideShift | slot(end)
}

// wide reports whether what is in it goes at different times.
func (s slot) wide() bool { return s >= wideSlots }

// begins is when the first of it may go, and ends when all of it may.
func (s slot) begins() time.Time { return s.ends().Add(-s.width()) }

func (s slot) ends() time.Time {
	if s < oldSlots {
		return time.Unix(int64(s)*int64(oldPeriod/time.Second), 0)
	}
	return time.Unix(int64(s%wideSlots), 0)
}

func (s slot) width() time.Duration {
	switch {
	case s.wide():
		return time.Duration(s>>wideShift) * period
	case s < oldSlots:
		return oldPeriod
	default:
		return period
	}
}

// next is the slot behind it.
func (s slot) next() slot { return s + slot(s.width()/time.Second) }
