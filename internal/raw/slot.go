package raw

import "time"

// slot identifies a partition of a Table by the time at which all records in it may be erased, in seconds since 1970.
// Classes with a long retention have wide partitions, which cover more than one period, since a week of 20-second
// partitions would be 30,000 of them (docs/decisions/0044). The records in a wide partition are deleted row by row as
// they expire, and the partition is dropped after the last one. The slot is part of references and of the names of
// partitions.
type slot int64

const (
	wideShift      = 40 // bits for the seconds; the bits above are the number of periods that a wide partition covers
	wideSlots slot = 1 << wideShift

	longClass = 2 * time.Hour // records with a longer retention go to wide partitions
	wideParts = 180           // number of wide partitions during the retention of a class
)

// slotOf returns the slot for records of a class that may be erased at expires: the first that ends after expires.
func slotOf(expires time.Time, class time.Duration) slot {
	periods := int64(1)
	if class > longClass {
		periods = int64(class/wideParts/period) + 1
	}
	width := periods * periodSeconds
	end := (floorDiv(expires.Unix(), width) + 1) * width
	if periods == 1 {
		return slot(end)
	}
	return slot(periods)<<wideShift | slot(end)
}

// isWide reports whether the slot is that of a wide partition.
func (s slot) isWide() bool { return s >= wideSlots }

// begins returns the time at which the first record in the slot may be erased.
func (s slot) begins() time.Time { return s.ends().Add(-s.width()) }

// ends returns the time at which all records in the slot may be erased.
func (s slot) ends() time.Time { return time.Unix(int64(s%wideSlots), 0) }

// width returns the time that a slot covers, a multiple of period.
func (s slot) width() time.Duration {
	if s.isWide() {
		return time.Duration(s>>wideShift) * period
	}
	return period
}

// next returns the slot after s, of the same width.
func (s slot) next() slot { return s + slot(s.width()/time.Second) }
