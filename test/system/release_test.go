package system_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/smtp"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// release is what a release has stored, and how its API showed that. It is kept in testdata/VERSION: the data folder of a service on
// SQLite, a dump of the PostgreSQL database that it was moved to, and this, as JSON. CONTRIBUTING.md says
// how it is made.
type release struct {
	Secret   string // secrets.key
	Token    string // of Ada's account
	Key      string // Ada's developer key
	Webhook  struct{ ID, Secret string }
	TOTP     string
	Recovery []string
	Order    order     // with the Idempotency-Key "first"
	Boxes    []mailbox // of a guest, of a guest session, of Ada and of her key
	Calls    []asked
}

// asked is a call and its answer.
type asked struct {
	Path, Token string

	JSON   json.RawMessage `json:",omitempty"` // without the fields that change with time
	SHA256 string          `json:",omitempty"` // of an answer that is not JSON
}

// The files of a release.
const (
	releaseFolder = "data.tar.gz"
	releaseDump   = "postgres.sql.gz"
	releaseCalls  = "calls.json"
)

var makeRelease = flag.String("make-release", "", "the release whose data in testdata is made anew, such as 0.1.0")

// TestDataOfReleasesIsServed starts the present program on the data of each release, on both engines. What was stored is shown as before,
// every credential is valid, every stored secret is readable, and mail, webhooks and payments go on.
func TestDataOfReleasesIsServed(t *testing.T) {
	t.Parallel()
	if *makeRelease != "" {
		writeRelease(t, filepath.Join("testdata", *makeRelease))
	}
	folders, err := filepath.Glob("testdata/*/" + releaseCalls)
	if err != nil || len(folders) == 0 {
		t.Fatalf("testdata has no release (%v), want at least 0.1.0", err)
	}
	for _, calls := range folders {
		folder := filepath.Dir(calls)
		t.Run(filepath.Base(folder)+"/sqlite", func(t *testing.T) {
			t.Parallel()
			r := readRelease(t, folder)
			dir := t.TempDir()
			unpack(t, filepath.Join(folder, releaseFolder), dir)
			s := start(t, options{set: releaseSettings(), dir: dir})
			r.isServed(t, s)
			s.stop()
			integrity(t, dir)
		})
		t.Run(filepath.Base(folder)+"/postgres", func(t *testing.T) {
			t.Parallel()
			r := readRelease(t, folder)
			url := dbtest.EmptyPostgresURL(t)
			restore(t, filepath.Join(folder, releaseDump), url)
			set := releaseSettings()
			set["database.url"], set["secrets.key"] = url, r.Secret
			s := start(t, options{set: set})
			r.isServed(t, s)
			s.stop()
		})
	}
}

// releaseSettings are those of the service that made the data. Nothing ends by itself within decades but what the maker defers.
func releaseSettings() map[string]string {
	set := movedSettings()
	const decades = "580000h"
	maps.Copy(set, map[string]string{"account.token_ttl": decades, "session.idle": decades, "api.idempotency_keep": decades})
	for _, plan := range []string{"guest", "free", "plus"} {
		maps.Copy(set, map[string]string{
			"plans." + plan + ".mailbox.ttl.default": decades, "plans." + plan + ".mailbox.ttl.max": decades,
			"plans." + plan + ".mailbox.lifetime.max": "0s", "plans." + plan + ".raw.retention": "8000h",
		})
	}
	return set
}

// readRelease reads the description of a release.
func readRelease(t *testing.T, folder string) (r release) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, releaseCalls))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil || len(r.Calls) < 30 || len(r.Boxes) != 4 {
		t.Fatalf("%s: %v, with %d calls and %d mailboxes, want some dozens and 4", folder, err, len(r.Calls), len(r.Boxes))
	}
	return r
}

// isServed checks that a service has all that the release stored, and goes on with it.
func (r *release) isServed(t *testing.T, s *service) {
	t.Helper()
	f := &sample{
		service: s, hook: hook{Receiver: authority.NewReceiver(t), id: r.Webhook.ID, secret: r.Webhook.Secret, token: r.Token},
		asked: make(map[string]string), boxes: r.Boxes, recovery: r.Recovery, totp: r.TOTP,
	}
	r.answers(t, s)
	f.signsIn(s)
	f.do(http.MethodPatch, "/me/webhooks/"+r.Webhook.ID, r.Token, map[string]any{"url": f.URL}, nil)
	f.delivered()
	r.mailGoesOn(f)
	r.moneyGoesOn(f)
}

// answers compares what the release answered with what the service does. Fields may have been added.
func (r *release) answers(t *testing.T, s *service) {
	t.Helper()
	for _, c := range r.Calls {
		status, body := s.call(http.MethodGet, c.Path, c.Token, nil)
		if status != http.StatusOK {
			t.Errorf("GET %s: %d %s, want 200", c.Path, status, body)
			continue
		}
		if sum := sha256.Sum256(body); c.SHA256 != "" && hex.EncodeToString(sum[:]) != c.SHA256 {
			t.Errorf("GET %s: %d octets with the SHA-256 %x, want %s", c.Path, len(body), sum, c.SHA256)
		}
		if c.JSON == nil {
			continue
		}
		var got, want any
		if err := errors.Join(json.Unmarshal([]byte(steady(body)), &got), json.Unmarshal(c.JSON, &want)); err != nil {
			t.Fatalf("GET %s: %v: %s", c.Path, err, body)
		}
		if at := lacks(got, want); at != "" {
			t.Errorf("GET %s: another answer at %s\n got %s\nwant %s", c.Path, at, steady(body), c.JSON)
		}
	}
}

// lacks returns where got does not have what want has, or "".
func lacks(got, want any) string {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return "an object"
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if _, has := object[name]; !has {
				return name + ", which is missing"
			}
			if at := lacks(object[name], want[name]); at != "" {
				return name + "." + at
			}
		}
		return ""
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return "the length of a list"
		}
		for i := range want {
			if at := lacks(list[i], want[i]); at != "" {
				return fmt.Sprint(i, ".", at)
			}
		}
		return ""
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Sprint("a value: ", got, " instead of ", want)
	}
	return ""
}

// mailGoesOn sends mail to mailboxes of before, whose tokens read it, to one that the key makes, and to the private domain. The filter of
// before finds the code.
func (r *release) mailGoesOn(f *sample) {
	f.t.Helper()
	f.receive(r.Boxes[0], 9)
	f.receive(r.Boxes[2], 7)
	code := decode[struct{ Code, Source string }](f.t, f.get("/mailboxes/me/otp/latest", r.Boxes[2].Token))
	if code.Code != "777" || code.Source != "filter" {
		f.t.Errorf("GET /mailboxes/me/otp/latest of Ada's mailbox: code %+v, want 777 by her filter", code)
	}
	var made mailbox
	f.do(http.MethodPost, "/keys/mailboxes", r.Key, map[string]any{}, &made)
	f.receive(made, 8)
	const caught = "anyone@ada-example.org"
	if err := smtp.SendMail(f.smtp, nil, "sender@example.org", []string{caught}, []byte("Subject: To the domain\r\n\r\nHello.\r\n")); err != nil {
		f.t.Errorf("send mail to %s: %v, want it taken for the verified domain", caught, err)
	}
	if mine := string(f.get("/me/mailboxes", r.Token)); !strings.Contains(mine, caught) {
		f.t.Errorf("GET /me/mailboxes: %s, want %s among them", mine, caught)
	}
	f.summariesAreAlike("/mailboxes/me/messages?limit=100", r.Boxes[2].Token)
	mailed := f.messages(r.Boxes[2])[0].ID
	await(f.t, "the delivery of new mail", func() bool {
		return slices.ContainsFunc(f.Got(), func(d apptest.Delivery) bool { return strings.Contains(string(d.Body), mailed) })
	})
}

// summariesAreAlike checks that old messages are listed with all the members that the newest has.
func (f *sample) summariesAreAlike(path, token string) {
	f.t.Helper()
	list := decode[[]map[string]any](f.t, f.get(path, token))
	for _, old := range list[1:] {
		for name := range list[0] {
			if _, has := old[name]; !has {
				f.t.Errorf("GET %s: the message %v, stored before, has no %s, want it as in %v: AppendJSON in internal/message must add its default", path, old["id"], name, list[0]["id"])
			}
		}
	}
}

// moneyGoesOn repeats the order of before, and pays another one.
func (r *release) moneyGoesOn(f *sample) {
	f.t.Helper()
	if again := f.order("first"); again != r.Order {
		f.t.Errorf("the order with the Idempotency-Key of before is %+v, want the same, %+v", again, r.Order)
	}
	balance := func() int {
		return decode[struct{ Balance int }](f.t, f.get("/me/wallet", r.Token)).Balance
	}
	before := balance()
	f.transfer(900, "MBVCB "+f.order("second").Memo+" CT")
	await(f.t, "the credit of a payment", func() bool { return balance() == before+30 })
}

// unpack unpacks the data folder of a release.
func unpack(t *testing.T, file, dir string) {
	t.Helper()
	files := tar.NewReader(bytes.NewReader(gunzip(t, file)))
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("read the next file of %s: %v", file, err)
		}
		data, err := io.ReadAll(files)
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600))
		if err != nil {
			t.Fatal(err)
		}
	}
}

// psqlCommand matches the commands of psql in a dump, which say nothing of the data.
var psqlCommand = regexp.MustCompile(`(?m)^\\.*$`)

// restore runs the statements of a dump in an empty database.
func restore(t *testing.T, file, url string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.PgConn().Exec(t.Context(), psqlCommand.ReplaceAllString(string(gunzip(t, file)), "")).ReadAll(); err != nil {
		t.Fatalf("%s: restore into an empty database: %v", file, err)
	}
}

func gunzip(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%s: gzip.NewReader: %v", file, err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatalf("%s: io.ReadAll: %v", file, err)
	}
	return plain
}
