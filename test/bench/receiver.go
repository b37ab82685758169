package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/emersion/go-smtp"
)

// The arguments with which this program is a server that the service is compared with.
const (
	receiverCommand = "receiver-go-smtp"
	answererCommand = "answerer-net-http"
)

// runBare runs such a server on a loopback port, which it prints, until standard input ends: with the process that started it.
func runBare(serve func(net.Listener) error) error {
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

// serveNetHTTP answers GET /octets/{n} with as many octets, which it holds in memory: what package net/http can do.
func serveNetHTTP(l net.Listener) error {
	const most = 1 << 20
	octets := bytes.Repeat([]byte("x"), most)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /octets/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.PathValue("n"))
		if err != nil || n < 0 || n > most {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(n))
		_, _ = w.Write(octets[:n]) // a client that has gone needs no answer
	})
	return (&http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}).Serve(l)
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
