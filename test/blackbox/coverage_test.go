package blackbox_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
)

// specification lists the statuses of every operation, without those that all operations share: those of the groups
// mailboxes, messages, otp, session and system, then those that the other files declare.
const specification = `
GET    /domains                             200
POST   /mailboxes                           201, 409, 422, 429
GET    /me/mailboxes                        200, 401
GET    /me/events                           200, 401
GET    /mailboxes/me                        200, 401, 410
GET    /mailboxes/me/events                 200, 401, 410, 429
DELETE /mailboxes/me                        204, 401
POST   /mailboxes/me/extend                 200, 403, 410
GET    /mailboxes/me/messages               200, 401, 410
POST   /mailboxes/me/messages               201, 403, 409, 410, 413, 429
GET    /mailboxes/me/deliveries             200, 401, 410
GET    /messages/{id}                       200, 404
PATCH  /messages/{id}                       200, 404
DELETE /messages/{id}                       204, 404
GET    /messages/{id}/raw                   200, 404, 410
GET    /messages/{id}/attachments/{attId}   200, 404
GET    /mailboxes/me/otp/latest             200, 404
GET    /session                             200, 401
POST   /session                             201, 429
DELETE /session                             204, 401
GET    /healthz                             200
GET    /readyz                              200, 503` + accountSpecification + domainsSpecification + keysSpecification + filtersSpecification + webhooksSpecification + plansSpecification + contentSpecification + subscriptionSpecification + walletSpecification + bankpaySpecification + staffSpecification

// coverage lists every answer: the statuses of specification and those of docs/spec/conventions.md, each status
// followed by its problem codes. Every row must be declared by the OpenAPI document, which may declare nothing else,
// and must be seen by a test of this package. Answers that belong to no operation stand behind *.
const coverage = `
GET    /domains                             200, 422 request.invalid, 429 rate.limited
POST   /mailboxes                           201, 401 auth.invalid_token, 403 access.closed, 409 mailbox.local_part_taken, 413 request.too_large, 415 request.media_type, 422 request.invalid mailbox.local_part_reserved mailbox.domain_unavailable mailbox.ttl_too_long mailbox.limit_reached, 429 rate.limited
GET    /me/mailboxes                        200, 401 auth.invalid_token auth.required, 422 request.invalid, 429 rate.limited
GET    /mailboxes/me                        200, 401 auth.invalid_token auth.required, 403 auth.address_not_allowed, 410 mailbox.expired, 422 request.invalid, 429 rate.limited
GET    /me/events                           200, 401 auth.invalid_token auth.required, 422 request.invalid, 429 rate.limited
GET    /mailboxes/me/events                 200, 401 auth.invalid_token auth.required, 403 auth.address_not_allowed, 410 mailbox.expired, 422 request.invalid, 429 rate.limited
DELETE /mailboxes/me                        204, 401 auth.invalid_token auth.required, 403 auth.address_not_allowed, 422 request.invalid, 429 rate.limited
POST   /mailboxes/me/extend                 200, 401 auth.invalid_token auth.required, 403 auth.address_not_allowed mailbox.lifetime_exceeded, 410 mailbox.expired, 413 request.too_large, 415 request.media_type, 422 request.invalid, 429 rate.limited
GET    /mailboxes/me/messages               200, 401 auth.invalid_token auth.required, 403 auth.address_not_allowed, 410 mailbox.expired, 422 request.invalid, 429 rate.limited
POST   /mailboxes/me/messages               201, 401 auth.invalid_token auth.required, 403 auth.address_not_allowed inject.disabled, 409 mailbox.full, 410 mailbox.expired, 413 request.too_large, 415 request.media_type, 422 request.invalid, 429 rate.limited mail.daily_cap
GET    /mailboxes/me/deliveries             200, 401 auth.invalid_token auth.required, 403 auth.address_not_allowed, 410 mailbox.expired, 422 request.invalid, 429 rate.limited
GET    /messages/{id}                       200, 401 auth.invalid_token auth.required, 403 auth.address_not_allowed, 404 message.not_found, 422 request.invalid, 429 rate.limited
PATCH  /messages/{id}                       200, 401 auth.invalid_token auth.required, 403 auth.address_not_allowed, 404 message.not_found, 413 request.too_large, 415 request.media_type, 422 request.invalid, 429 rate.limited
DELETE /messages/{id}                       204, 401 auth.invalid_token auth.required, 403 auth.address_not_allowed, 404 message.not_found, 422 request.invalid, 429 rate.limited
GET    /messages/{id}/raw                   200, 401 auth.invalid_token auth.required, 403 auth.address_not_allowed, 404 message.not_found, 410 mailbox.expired message.raw_expired, 422 request.invalid, 429 rate.limited
GET    /messages/{id}/attachments/{attId}   200, 401 auth.invalid_token auth.required, 403 auth.address_not_allowed, 404 message.not_found attachment.not_found attachment.not_retained, 422 request.invalid, 429 rate.limited
GET    /mailboxes/me/otp/latest             200, 401 auth.invalid_token auth.required, 403 auth.address_not_allowed, 404 otp.not_found, 422 request.invalid, 429 rate.limited
GET    /session                             200, 401 auth.invalid_token auth.required, 422 request.invalid, 429 rate.limited
POST   /session                             201, 403 access.closed, 422 request.invalid, 429 rate.limited
DELETE /session                             204, 401 auth.invalid_token auth.required, 422 request.invalid, 429 rate.limited
GET    /healthz                             200
GET    /readyz                              200, 503
*      *                                    404 route.not_found, 405 route.method_not_allowed` + accountCoverage + domainsCoverage + keysCoverage + filtersCoverage + webhooksCoverage + plansCoverage + contentCoverage + subscriptionCoverage + walletCoverage + bankpayCoverage + staffCoverage

// pairs splits a table: "GET /domains 200", and "GET /domains 422 request.invalid".
func pairs(table string) map[string]bool {
	all := make(map[string]bool)
	for line := range strings.Lines(strings.TrimSpace(table)) {
		words := strings.Fields(line)
		call := words[0] + " " + words[1]
		for answer := range strings.SplitSeq(strings.Join(words[2:], " "), ",") {
			status, codes, _ := strings.Cut(strings.TrimSpace(answer), " ")
			if codes == "" {
				all[call+" "+status] = true
			}
			for code := range strings.FieldsSeq(codes) {
				all[call+" "+status+" "+code] = true
			}
		}
	}
	return all
}

// ledger records which answers the tests of this package have received.
type ledger struct {
	mu   sync.Mutex
	seen map[string]bool
}

var exercised = &ledger{seen: make(map[string]bool)}

func (l *ledger) note(status int, code, method, template string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[strings.TrimSpace(fmt.Sprintf("%s %s %d %s", method, template, status, code))] = true
}

// missing lists the rows of the table that no test has received.
func (l *ledger) missing() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return without(pairs(coverage), l.seen)
}

// without lists the elements of a that are not in b.
func without(a, b map[string]bool) []string {
	var only []string
	for _, pair := range slices.Sorted(maps.Keys(a)) {
		if !b[pair] {
			only = append(only, pair)
		}
	}
	return only
}

// listed are the groups of which the table lists a call; it must then list all calls of the group.
func listed(d *document) map[string]bool {
	groups := make(map[string]bool)
	for pair := range pairs(coverage) {
		words := strings.Fields(pair)
		if o := d.Paths["/api/v1"+words[1]][strings.ToLower(words[0])]; o != nil {
			groups[o.Tags[0]] = true
		}
	}
	return groups
}

// declared lists what the OpenAPI document declares for each call of the listed groups. Internal errors are its default
// answer.
func declared(d *document) map[string]bool {
	all, groups := make(map[string]bool), listed(d)
	for path, methods := range d.Paths {
		for method, o := range methods {
			if !groups[o.Tags[0]] {
				continue
			}
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

func TestOpenAPIDocumentMatchesCoverageTable(t *testing.T) {
	table, d := pairs(coverage), declared(start(t, nil).document())
	for _, pair := range without(table, d) {
		if !strings.HasPrefix(pair, "*") {
			t.Errorf("the document does not declare %s", pair)
		}
	}
	for _, pair := range without(d, table) {
		t.Errorf("the document declares %s, which the table lacks", pair)
	}
}

func TestCoverageTableHoldsSpecifiedStatuses(t *testing.T) {
	statuses := make(map[string]bool)
	for pair := range pairs(coverage) {
		statuses[strings.Join(strings.Fields(pair)[:3], " ")] = true
	}
	for _, pair := range without(pairs(specification), statuses) {
		t.Errorf("%s is missing", pair)
	}
}

// document reads the OpenAPI document.
func (s *service) document() *document { return fetchDocument(s.t, s.Service) }
