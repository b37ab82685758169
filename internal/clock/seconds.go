package clock

import "time"

// Seconds returns a duration in whole seconds, rounded up: what waits for exactly that long does not come too early, and a time that has not
// passed is never shown as 0.
func Seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
