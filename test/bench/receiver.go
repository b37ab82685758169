package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/emersion/go-smtp"
)

// receiverCommand is the argument with which this program is the receiver that the service is compared with.
const receiverCommand = "receiver-go-smtp"

// runReceiver serves on a loopback port, which it prints, until standard input ends: with the process that started it.
func runReceiver() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return serveGoSMTP(l)
}

// serveGoSMTP is the library with a back end that accepts every recipient, reads the message and stores nothing.
func serveGoSMTP(l net.Listener) error {
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return discard{}, nil }))
	s.Domain = "go-smtp.bench.example"
	s.MaxMessageBytes = 25 << 20
	s.MaxRecipients = 100
	s.ReadTimeout, s.WriteTimeout = time.Minute, time.Minute
	return s.Serve(l)
}

type discard struct{}

func (discard) Mail(string, *smtp.MailOptions) error { return nil }
func (discard) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (discard) Data(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}
func (discard) Reset()        {}
func (discard) Logout() error { return nil }
