package main

import (
	"fmt"
	"io"
	"net"
	"os"
)

// receivers are the contestants that this program plays itself, each in a process of its own.
func receivers() map[string]func(net.Listener) error {
	return map[string]func(net.Listener) error{"receiver-go-smtp": serveGoSMTP, "receiver-plain": servePlain}
}

// peers are all programs that this one plays itself: the receivers of mail, and what else the service is held against.
func peers() map[string]func(net.Listener) error {
	all := receivers()
	all["bare-ledger"] = serveLedger
	return all
}

// runReceiver serves on a loopback port, which it prints, until standard input ends: with the process that started it.
func runReceiver(serve func(net.Listener) error) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return serve(l)
}
