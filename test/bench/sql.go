package main

// The table of a bare callback.
const (
	createCallback = "CREATE TABLE callback (id TEXT NOT NULL PRIMARY KEY, body BLOB NOT NULL, received_at BIGINT NOT NULL)"
	insertCallback = "INSERT INTO callback (id, body, received_at) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING"
)
