// Package licences holds the licence texts of everything that is compiled into the program.
package licences

import _ "embed"

// text is written by the test of this package: go test ./internal/licences -update.
//
//go:embed licences.txt
var text string

// Text returns the licences of the modules, the Go runtime and the embedded pages, each with the names and versions of what it covers.
func Text() string { return text }
