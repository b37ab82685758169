package db

import (
	"strings"
	"syscall"
	"time"
)

// tcpUserTimeout is TCP_USER_TIMEOUT of linux/tcp.h, which package syscall does not have on every processor.
const tcpUserTimeout = 18

// setUserTimeout has the system give up a connection on which the other side acknowledges nothing for d (RFC 5482).
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
