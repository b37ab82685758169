package main

import (
	"database/sql"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"time"

	_ "modernc.org/sqlite" // the database that the service uses too
)

// serveLedger is the least that a bank's callback can be: it checks the credential and that there is an identifier, and inserts the
// body, each in a transaction of its own that is on stable storage when it answers. Its database lies in the working folder.
func serveLedger(l net.Listener) error {
	db, err := sql.Open("sqlite", "file:callbacks.db?_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1) // SQLite has one writer
	if _, err := db.Exec(createCallback); err != nil {
		return err
	}
	insert, err := db.Prepare(insertCallback)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+base+callbackPath, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		var fields struct{ ID json.Number }
		if err != nil || r.Header.Get("Authorization") != "Apikey "+bankSecret || json.Unmarshal(body, &fields) != nil || fields.ID == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if _, err := insert.Exec(fields.ID.String(), body, time.Now().UnixMicro()); err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"success":true}`) // who left does not hear it
	})
	s := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	return s.Serve(l)
}
