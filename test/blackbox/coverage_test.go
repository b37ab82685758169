package blackbox_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// ledger records which answers the tests of this package have received. At the end, each answer that the OpenAPI document
// declares must be among them: each status of each operation, with each of its problem codes. That nothing else is
// answered is checked for each answer (inspector).
type ledger struct {
	mu   sync.Mutex
	seen map[string]bool
}

var exercised = &ledger{seen: make(map[string]bool)}

// note records an answer of an operation, or of none (*).
func (l *ledger) note(status int, code, method, template string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[strings.TrimSpace(fmt.Sprintf("%s %s %d %s", method, template, status, code))] = true
}

// missing lists the answers that no test has received.
func (l *ledger) missing(d *document) (missing []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, answer := range slices.Sorted(maps.Keys(declared(d))) {
		if !l.seen[answer] {
			missing = append(missing, answer)
		}
	}
	return missing
}

// declared lists the answers that a document declares, and those to calls of no operation. Internal errors are the default
// answer, which no test can cause.
func declared(d *document) map[string]bool {
	all := map[string]bool{"* * 404 route.not_found": true, "* * 405 route.method_not_allowed": true}
	for path, methods := range d.Paths {
		for method, o := range methods {
			for status, r := range o.Responses {
				call := strings.ToUpper(method) + " " + strings.TrimPrefix(path, "/api/v1") + " " + status
				problems := r.Content["application/problem+json"].Examples
				if len(problems) == 0 {
					all[call] = true
				}
				for _, example := range problems {
					if status != "default" {
						all[call+" "+example.Value.Code] = true
					}
				}
			}
		}
	}
	return all
}

// answersOf lists the declared answers, as "GET /me 401 auth.required", of the operations at the paths and below them. A path
// with an equals sign in front is that path alone.
func answersOf(paths ...string) []string {
	var of []string
	for _, answer := range slices.Sorted(maps.Keys(declared(shared.document))) {
		path := strings.Fields(answer)[1]
		if slices.ContainsFunc(paths, func(p string) bool {
			exact, only := strings.CutPrefix(p, "=")
			return path == exact || !only && strings.HasPrefix(path, p+"/")
		}) {
			of = append(of, answer)
		}
	}
	return of
}

// operationsOf lists these operations, as "GET /me".
func operationsOf(paths ...string) []string {
	var of []string
	for _, answer := range answersOf(paths...) {
		words := strings.Fields(answer)
		of = append(of, words[0]+" "+words[1])
	}
	return slices.Compact(of)
}

// document reads the OpenAPI document.
func (s *service) document() *document { return fetchDocument(s.t, s.Service) }
