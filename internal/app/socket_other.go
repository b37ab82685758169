//go:build !linux

package app

import "syscall"

func boundUnsent(string, string, syscall.RawConn) error { return nil }
