package app

import "syscall"

// unsentMax is how many unsent octets the kernel buffers for a connection. By default it buffers up to 4 MiB (tcp_wmem) for a
// client that does not read, which memory.budget does not include. Octets in flight do not count, so clients with a long
// round-trip time are not slowed down.
const unsentMax = 128 << 10

// tcpNotSentLowat is TCP_NOTSENT_LOWAT of tcp(7), which package syscall lacks.
const tcpNotSentLowat = 25

// limitUnsent sets the limit on a listener, whose connections inherit it. A kernel without the option is not an error.
func limitUnsent(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpNotSentLowat, unsentMax)
	})
}
