package system_test

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// accountKinds are the states of an account that a caller could tell apart by an e-mail address, and none.
var accountKinds = []string{"unknown", "unconfirmed", "confirmed", "two-factor", "disabled", "federated", "deleted"}

// enumeration is a service with accounts of each kind, whose answers to calls that name an e-mail address are compared.
type enumeration struct {
	*service
	team  *team
	relay *apptest.Relay
	n     int // accounts of each kind that a question is put for
	token string
}

// startEnumeration starts a service, at the least cost of a password hash, so that a hash hides nothing.
func startEnumeration(t *testing.T, n int, set map[string]string) *enumeration {
	t.Helper()
	e := &enumeration{team: newTeam(t), relay: apptest.NewRelay(t), n: n}
	own := e.team.settings()
	maps.Copy(own, map[string]string{
		"relay.url": "smtp://" + e.relay.Addr, "relay.from": "no-reply@box.example", "account.password.memory": "8KiB", "account.password.passes": "1",
	})
	for _, limit := range []string{"signin", "signin_account", "signin_address", "register"} {
		own["limits."+limit] = "10000000/1m"
	}
	maps.Copy(own, set)
	e.service = start(t, options{set: own})
	return e
}

// email is the address of account i of a kind.
func (e *enumeration) email(kind string, i int) string {
	return fmt.Sprintf("%s-%d@example.org", kind, i)
}

// fill makes the accounts.
func (e *enumeration) fill() {
	e.t.Helper()
	staff := e.register("staff@example.org")
	where := []string{"--data-dir", e.dir}
	for key, value := range e.o.set {
		where = append(where, "--set", key+"="+value)
	}
	if code, _, err := command(e.t, append([]string{"user", "set-role", "staff@example.org", "staff"}, where...)...); code != 0 {
		e.t.Fatalf("gonebox user set-role: got status %d: %s, want 0", code, err)
	}
	e.token = e.register("caller@example.org")
	for i := range 2 * e.n { // afterForgotten needs others, since an address is sent a link once in 5 minutes
		for _, kind := range accountKinds {
			email := e.email(kind, i)
			switch kind {
			case "unknown":
			case "federated":
				e.team.Set(func() {
					e.team.User = email
					e.team.Users[email] = apptest.IssuerUser{Subject: email, Claims: map[string]any{"email": email, "email_verified": true}}
				})
				e.team.signIn(e.service)
			default:
				e.make(kind, email, e.register(email), staff)
			}
		}
	}
}

// make brings an account that has just registered into the state of its kind.
func (e *enumeration) make(kind, email, token, staff string) {
	e.t.Helper()
	switch kind {
	case "confirmed":
		e.expect(202, nil, http.MethodPost, "/me/email", token, map[string]string{"password": userPassword, "email": email})
		e.expect(200, nil, http.MethodPost, "/me/email/confirm", token, map[string]string{"code": e.code(email)})
	case "two-factor":
		var enrolment struct{ Secret string }
		e.expect(200, &enrolment, http.MethodPost, "/me/2fa/setup", token, nil)
		e.expect(200, nil, http.MethodPost, "/me/2fa/confirm", token, map[string]string{"code": totp(e.t, enrolment.Secret)})
	case "disabled":
		var me struct{ ID string }
		e.expect(200, &me, http.MethodGet, "/me", token, nil)
		e.expect(200, nil, http.MethodPatch, "/staff/users/"+me.ID, staff, map[string]bool{"disabled": true})
	case "deleted":
		e.expect(204, nil, http.MethodDelete, "/me", token, map[string]string{"password": userPassword})
	}
}

var confirmationCode = regexp.MustCompile(`code is: ([0-9]{6})`)

// code waits for the code that is sent to an address.
func (e *enumeration) code(email string) (code string) {
	e.t.Helper()
	await(e.t, "a code for "+email, func() bool {
		for _, m := range slices.Backward(e.relay.Mails()) {
			if found := confirmationCode.FindSubmatch(m.Data); m.To == email && found != nil {
				code = string(found[1])
				return true
			}
		}
		return false
	})
	return code
}

// register registers an account and returns its user token.
func (e *enumeration) register(email string) string {
	e.t.Helper()
	var signedIn struct{ Token string }
	e.expect(201, &signedIn, http.MethodPost, "/auth/register", "", map[string]string{"email": email, "password": userPassword})
	return signedIn.Token
}

// expect makes a call that must be answered with a status, and decodes its data into v unless that is nil.
func (e *enumeration) expect(want int, v any, method, path, token string, body any) {
	e.t.Helper()
	status, text := e.call(method, path, token, body)
	if status != want {
		e.t.Fatalf("%s %s %v: got %d %s, want %d", method, path, body, status, text, want)
	}
	if v == nil {
		return
	}
	if err := json.Unmarshal(text, &struct{ Data any }{v}); err != nil {
		e.t.Fatalf("%s %s: got %s, want data that fits %T: %v", method, path, text, v, err)
	}
}

// totp is the code of an authenticator app at present (RFC 6238).
func totp(t *testing.T, secret string) string {
	t.Helper()
	key, err := base32.StdEncoding.DecodeString(secret)
	if err != nil {
		t.Fatalf("decode the secret of a two-factor enrolment: %v", err)
	}
	mac := hmac.New(sha1.New, key)
	_ = binary.Write(mac, binary.BigEndian, time.Now().Unix()/30)
	sum := mac.Sum(nil)
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[sum[19]&15:])&0x7fff_ffff%1_000_000)
}

// question is a call that names an e-mail address. Its answer must be the same for the kinds of accounts.
type question struct {
	name  string
	kinds []string
	ask   func(kind string, i int) *http.Request
}

// answer is what a caller sees: the status, the header and the body without what differs from call to call, and how long it took.
type answer struct {
	text string
	took time.Duration
}

// varying matches what differs from call to call, whatever it names.
var varying = regexp.MustCompile(`(?m)^(Date|Traceparent|Ratelimit): .*$|"traceId":"[0-9a-f]+"|gonebox_oidc_\S+`)

// request makes a request with a body in JSON.
func (e *enumeration) request(method, path, token string, body any) *http.Request {
	e.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		e.t.Fatal(err)
	}
	r, err := http.NewRequest(method, e.url+path, bytes.NewReader(text))
	if err != nil {
		e.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r
}

// asking is a connection on which requests are timed.
type asking struct {
	t      *testing.T
	conn   net.Conn
	reader *bufio.Reader
}

func (e *enumeration) connect() *asking {
	e.t.Helper()
	conn, err := net.Dial("tcp", e.http)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { conn.Close() })
	return &asking{e.t, conn, bufio.NewReader(conn)}
}

// do sends a request and reads the answer.
func (a *asking) do(r *http.Request) answer {
	a.t.Helper()
	var sent bytes.Buffer
	if err := r.Write(&sent); err != nil {
		a.t.Fatal(err)
	}
	began := time.Now()
	if _, err := a.conn.Write(sent.Bytes()); err != nil {
		a.t.Fatal(err)
	}
	res, err := http.ReadResponse(a.reader, r)
	if err != nil {
		a.t.Fatalf("%s %s: got no answer: %v", r.Method, r.URL.Path, err)
	}
	body, err := io.ReadAll(res.Body)
	took := time.Since(began)
	if err != nil {
		a.t.Fatalf("%s %s: got no body: %v", r.Method, r.URL.Path, err)
	}
	var text strings.Builder
	fmt.Fprintln(&text, res.Status)
	_ = res.Header.Write(&text)
	text.Write(body)
	return answer{varying.ReplaceAllString(text.String(), ""), took}
}

// ask puts a question for every account of its kinds in a random order.
func (e *enumeration) ask(q question) map[string][]answer {
	e.t.Helper()
	type one struct {
		kind string
		i    int
	}
	var all []one
	for _, kind := range q.kinds {
		for i := range e.n {
			all = append(all, one{kind, i})
		}
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	on, got := e.connect(), map[string][]answer{}
	for _, o := range all {
		got[o.kind] = append(got[o.kind], on.do(q.ask(o.kind, o.i)))
	}
	return got
}

// compare puts a question, and demands the same answer for all kinds. The times are shown beside those of the first kind.
func (e *enumeration) compare(t *testing.T, q question) {
	t.Helper()
	got := e.ask(q)
	want := got[q.kinds[0]][0].text
	for _, kind := range q.kinds {
		for _, a := range got[kind] {
			if a.text != want {
				t.Errorf("%s for an address that is %s: got the answer\n%s\nwant, as for one that is %s,\n%s", q.name, kind, a.text, q.kinds[0], want)
				break
			}
		}
		a, p := rank(got[kind], got[q.kinds[0]])
		t.Logf("%-28s %-12s %s  AUC %.3f  p %.3f", q.name, kind, spread(got[kind]), a, p)
	}
}

// spread is the first quartile, the median and the third quartile of the times.
func spread(all []answer) string {
	sorted := slices.SortedFunc(slices.Values(all), func(a, b answer) int { return cmp.Compare(a.took, b.took) })
	at := func(q float64) float64 {
		return float64(sorted[int(q*float64(len(sorted)-1))].took) / float64(time.Microsecond)
	}
	return fmt.Sprintf("%7.0f %7.0f %7.0f µs", at(.25), at(.5), at(.75))
}

// rank is the test of Mann and Whitney: the probability that a call of a takes longer than one of b, and how probable a distance from a
// half like that is if they are alike.
func rank(a, b []answer) (auc, p float64) {
	more := 0.
	for _, x := range a {
		for _, y := range b {
			switch {
			case x.took > y.took:
				more++
			case x.took == y.took:
				more += .5
			}
		}
	}
	n, m := float64(len(a)), float64(len(b))
	z := (more - n*m/2) / math.Sqrt(n*m*(n+m+1)/12)
	return more / (n * m), math.Erfc(math.Abs(z) / math.Sqrt2)
}

// accountsOfEachKind is how many accounts of each kind are asked about. More of them, by the variable, give figures for the times, which
// decide nothing here.
func accountsOfEachKind(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv("ENUMERATION_ACCOUNTS"), "3"))
	if err != nil || n < 1 {
		t.Fatalf("ENUMERATION_ACCOUNTS: got %q, want a number", os.Getenv("ENUMERATION_ACCOUNTS"))
	}
	return n
}

// No answer to a caller without an account says whether an address has one, or in what state it is.
func TestAnswersDoNotTellAccounts(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			set := map[string]string{}
			if engine == "postgres" {
				set = map[string]string{"database.url": dbtest.PostgresURL(t), "secrets.key": strings.Repeat("5e", 32)}
			}
			e := startEnumeration(t, accountsOfEachKind(t), set)
			e.fill()
			for _, q := range e.questions() {
				e.compare(t, q)
			}
		})
	}
}

// questions are the calls that name an e-mail address.
func (e *enumeration) questions() []question {
	post := func(path, token string, body func(email string) map[string]string) func(kind string, i int) *http.Request {
		return func(kind string, i int) *http.Request {
			return e.request(http.MethodPost, path, token, body(e.email(kind, i)))
		}
	}
	forgot := post("/auth/password/forgot", "", func(email string) map[string]string { return map[string]string{"email": email} })
	known := slices.DeleteFunc(slices.Clone(accountKinds), func(kind string) bool { return kind == "unknown" || kind == "deleted" })
	return []question{
		{"forgot", accountKinds, forgot},
		{"forgot again", accountKinds, forgot},
		{"after forgot", accountKinds, e.afterForgotten},
		{"sign-in", accountKinds, post("/auth/token", "", func(email string) map[string]string {
			return map[string]string{"email": email, "password": "not the password"}
		})},
		{"register", known, post("/auth/register", "", func(email string) map[string]string {
			return map[string]string{"email": email, "password": userPassword}
		})},
		{"another address, no password", accountKinds, post("/me/email", e.token, func(email string) map[string]string {
			return map[string]string{"email": email, "password": "not the password"}
		})},
		{"another address", accountKinds, post("/me/email", e.token, func(email string) map[string]string {
			return map[string]string{"email": email, "password": userPassword}
		})},
		{"issuer, not verified", accountKinds, e.callback},
	}
}

// callback is the request with which a browser comes back from the issuer, which has not verified the e-mail address of its user.
func (e *enumeration) callback(kind string, i int) *http.Request {
	e.t.Helper()
	e.team.Set(func() {
		e.team.User = "stranger"
		e.team.Users["stranger"] = apptest.IssuerUser{Subject: "stranger", Claims: map[string]any{"email": e.email(kind, i), "email_verified": false}}
	})
	back, cookies := e.team.visit(e.service)
	r, err := http.NewRequest(http.MethodGet, back, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	for _, c := range cookies {
		r.AddCookie(c)
	}
	return r
}

// afterForgotten asks for a link and returns a call that writes: what the service does for the link must not delay it in another way than
// what it does for an address without an account.
func (e *enumeration) afterForgotten(kind string, i int) *http.Request {
	e.t.Helper()
	e.expect(202, nil, http.MethodPost, "/auth/password/forgot", "", map[string]string{"email": e.email(kind, e.n+i)})
	return e.request(http.MethodPost, "/auth/password/forgot", "", map[string]string{"email": fmt.Sprintf("other-%d-%s@example.org", i, kind)})
}
