package main

import (
	"io"
	"net"
	"time"

	"github.com/emersion/go-smtp"
)

// serveGoSMTP is the library as it comes, with a back end that takes every recipient, reads the message and stores nothing.
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
