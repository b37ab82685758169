package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
)

// socketMode lets every user of this machine connect to the socket of lmtp.addr: the permissions of its folder say who can reach it.
const socketMode = 0o666

// listenLMTP opens the listener of lmtp.addr, nil if it is off.
func (a *App) listenLMTP(ctx context.Context) (net.Listener, error) {
	addr := a.cfg.LMTP.Addr
	if addr == "" || !a.runs(roleSMTP) {
		return nil, nil //nolint:nilnil // it is off
	}
	var config net.ListenConfig
	path, isSocket := strings.CutPrefix(addr, "unix:")
	if !isSocket {
		l, err := config.Listen(ctx, "tcp", addr)
		if err != nil {
			return nil, fmt.Errorf("lmtp.addr: %w", err)
		}
		return l, nil
	}
	if err := removeSocket(ctx, path); err != nil {
		return nil, fmt.Errorf("lmtp.addr: %w", err)
	}
	l, err := config.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("lmtp.addr: %w", err)
	}
	if err := os.Chmod(path, socketMode); err != nil {
		return nil, errors.Join(fmt.Errorf("lmtp.addr: %w", err), l.Close())
	}
	return l, nil
}

// removeSocket removes a socket that a process has left that was killed. It leaves any other file, and a socket on which a process
// listens, for Listen to report.
func removeSocket(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSocket == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err == nil {
		return conn.Close()
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return os.Remove(path)
	}
	return nil
}

// LMTPAddr returns the address of the LMTP server, or nil.
func (a *App) LMTPAddr() net.Addr { return addressOf(a.lmtpListener) }
