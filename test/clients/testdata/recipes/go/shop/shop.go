// Package shop is the application of the recipe for Go in docs/testing.md: it sends a code to who signs up.
package shop

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/smtp"
	"sync"
)

// Handler returns the application, whose mail goes to the SMTP server.
func Handler(server string) http.Handler {
	var codes sync.Map
	mux := http.NewServeMux()
	mux.HandleFunc("POST /sign-up", func(w http.ResponseWriter, r *http.Request) {
		code, to := fmt.Sprint(100_000+rand.IntN(900_000)), r.FormValue("email")
		codes.Store(code, true)
		mail := "From: shop@company.test\r\nTo: " + to + "\r\nSubject: Welcome\r\n\r\nYour code is " + code + ".\r\n"
		if err := smtp.SendMail(server, nil, "shop@company.test", []string{to}, []byte(mail)); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
		}
	})
	mux.HandleFunc("POST /confirm", func(w http.ResponseWriter, r *http.Request) {
		if _, sent := codes.Load(r.FormValue("code")); !sent {
			http.Error(w, "wrong code", http.StatusUnprocessableEntity)
		}
	})
	return mux
}
