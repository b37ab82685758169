package netguard

import (
	"errors"
	"syscall"
	"time"
)

// AgeMax is how old a connection gets that is used again.
const AgeMax time.Duration = ageMax

// ErrNotDialled ends every connection of a Guard that only tells.
var ErrNotDialled = errors.New("the test does not dial")

// OnlyTell makes a Guard call seen with each address that its last check lets through, and dial none of them.
func (g *Guard) OnlyTell(seen func(address string)) {
	check := g.dialer.Control
	g.dialer.Control = func(network, address string, c syscall.RawConn) error {
		if err := check(network, address, c); err != nil {
			return err
		}
		seen(address)
		return ErrNotDialled
	}
}

// Control is the last check alone, on an address as the system is about to connect to it.
func (g *Guard) Control(network, address string) error { return g.control(network, address, nil) }
