package db

import (
	"strings"
	"syscall"
	"time"
)

// tcpUserTimeout is TCP_USER_TIMEOUT of linux/tcp.h, which package syscall lacks on some architectures.
const tcpUserTimeout = 18

// setUserTimeout makes the kernel close a connection on which sent data is not acknowledged for d (RFC 5482).
func setUserTimeout(network string, c syscall.RawConn, d time.Duration) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var err error
	if control := c.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(d.Milliseconds()))
	}); control != nil {
		return control
	}
	return err
}
