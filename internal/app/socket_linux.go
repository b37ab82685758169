package app

import "syscall"

// unsentMax is how many octets that were not sent yet the system takes for a connection. Without a bound it buffers up to 4 MiB for a client
// that reads nothing, beyond memory.budget. It does not bound what is on its way, so it does not slow a client down that is far away.
const unsentMax = 128 << 10

// tcpNotSentLowat is TCP_NOTSENT_LOWAT of tcp(7), which package syscall does not have.
const tcpNotSentLowat = 25

// boundUnsent sets the bound on a listener, whose connections inherit it. A system without it goes on without.
func boundUnsent(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpNotSentLowat, unsentMax)
	})
}
