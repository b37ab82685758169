//go:build !linux

package app

func unmapProgram() error { return nil }
