package system_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// The width of the partitions that raw messages with the retention of releaseSettings are in, and the period of segments, in seconds.
const (
	segmentPeriod = 20
	wideShift     = 40 // of a slot: the seconds are below
)

// deferral is how much later what cannot last for decades ends: raw messages, the delivery log, a subscription, mail of the sink. A
// multiple of segmentPeriod.
const deferral = 64 * 365 * 24 * 3600 * time.Second

// writeRelease has the present program make the data of a release.
func writeRelease(t *testing.T, folder string) {
	t.Helper()
	s := start(t, options{set: releaseSettings()})
	f := newSample(t, s)
	f.refuse.Store(true) // deliveries from here on wait for the tests
	f.fill()
	var key struct{ Key string }
	scopes := []string{"mailboxes:read", "mailboxes:write", "messages:read", "otp:read"}
	f.do(http.MethodPost, "/me/api-keys", f.token, map[string]any{"name": "kept", "scopes": scopes}, &key)
	f.refused(s)
	r := release{Token: f.token, Key: key.Key, TOTP: f.totp, Recovery: f.recovery, Order: f.order("first"), Boxes: f.boxes}
	r.Webhook.ID, r.Webhook.Secret = f.id, f.hook.secret
	file := filepath.Join(s.dir, "secret.key")
	r.Secret = f.secret(file)
	url := dbtest.EmptyPostgresURL(t)
	s.stop()
	f.move("sqlite:"+s.dir, url, file)

	deferSegments(t, s.dir)
	s.restart()
	r.ask(f)
	s.stop()
	packFolder(t, s.dir, filepath.Join(folder, releaseFolder))

	deferPartitions(t, url)
	set := releaseSettings()
	set["database.url"], set["secrets.key"] = url, r.Secret
	moved := start(t, options{set: set})
	r.answers(t, moved)
	moved.stop()
	dump(t, url, filepath.Join(folder, releaseDump))
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(folder, releaseCalls), append(text, '\n'))
}

// ask records the answers of all calls, except those that say what the configuration offers.
func (r *release) ask(f *sample) {
	f.t.Helper()
	for call, token := range f.asked {
		path, _, _ := strings.Cut(call, " ")
		if path == "/plans" || path == "/payment-providers" {
			continue
		}
		body := f.get(path, token)
		c := asked{Path: path, Token: token}
		if json.Valid(body) {
			c.JSON = json.RawMessage(steady(body))
		} else {
			sum := sha256.Sum256(body)
			c.SHA256 = hex.EncodeToString(sum[:])
		}
		r.Calls = append(r.Calls, c)
	}
	slices.SortFunc(r.Calls, func(a, b asked) int { return strings.Compare(a.Path+a.Token, b.Path+b.Token) })
}

// database is a database whose service has ended.
type database struct {
	*sql.DB
	t *testing.T
}

func (d *database) exec(statement string, values ...any) {
	d.t.Helper()
	if _, err := d.ExecContext(d.t.Context(), statement, values...); err != nil {
		d.t.Fatalf("exec(%s): %v", statement, err)
	}
}

func openDatabase(t *testing.T, driver, name string) *database {
	t.Helper()
	pool, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	return &database{pool, t}
}

// deferRows defers everything but raw messages. It verifies the private domain, for which there is no name server.
func (d *database) deferRows() {
	d.t.Helper()
	by := deferral.Microseconds()
	d.exec("UPDATE message SET raw_until = raw_until + $1", by)
	d.exec("UPDATE mail_delivery SET at = at + $1", by)
	d.exec("UPDATE subscription SET started_at = started_at + $1, anchor_at = anchor_at + $1, period_end = period_end + $1", by)
	d.exec("UPDATE mailbox SET expires_at = expires_at + $1 WHERE source = 'sink'", by)
	d.exec("UPDATE private_domain SET status = 'verified', verified_at = created_at, checked_at = created_at, txt_ok = 1, mx_ok = 1, next_check = created_at + $1", by)
}

// eachRef calls change for the reference of each raw message, and stores what it returns.
func (d *database) eachRef(change func(ref string) string) {
	d.t.Helper()
	rows, err := d.QueryContext(d.t.Context(), "SELECT DISTINCT raw_ref FROM message")
	if err != nil {
		d.t.Fatal(err)
	}
	defer rows.Close()
	var refs []string
	for rows.Next() {
		var ref string
		if err := rows.Scan(&ref); err != nil {
			d.t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	if err := rows.Err(); err != nil {
		d.t.Fatalf("read rows: got the error %v, want none", err)
	}
	for _, ref := range refs {
		d.exec("UPDATE message SET raw_ref = $1 WHERE raw_ref = $2", change(ref), ref)
	}
}

// deferSegments defers the end of raw messages in segments: their time is in the names of the files, and in references.
func deferSegments(t *testing.T, dir string) {
	t.Helper()
	d := openDatabase(t, "sqlite", "file:"+filepath.Join(dir, "gonebox.db"))
	defer d.Close()
	d.deferRows()
	d.eachRef(func(ref string) string {
		parts := strings.Split(ref, ".") // s, class, period, nonce, offset, length
		parts[2] = strconv.FormatInt(number36(t, parts[2])+int64(deferral/time.Second)/segmentPeriod, 36)
		return strings.Join(parts, ".")
	})
	files, err := filepath.Glob(filepath.Join(dir, "raw", "*.segment"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the segments in %s: %v, want some", dir, err)
	}
	for _, file := range files {
		const layout = "20060102T150405Z"
		at, rest, _ := strings.Cut(filepath.Base(file), "-")
		began, err := time.Parse(layout, at)
		if err == nil {
			err = os.Rename(file, filepath.Join(filepath.Dir(file), began.Add(deferral).Format(layout)+"-"+rest))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// deferPartitions defers the end of raw messages in PostgreSQL: their time is in the slots of the partitions and at the beginning of their
// identifiers, and so in references.
func deferPartitions(t *testing.T, url string) {
	t.Helper()
	d := openDatabase(t, "pgx", url)
	defer d.Close()
	d.deferRows()
	d.exec("UPDATE move SET source = 'sqlite:/var/lib/gonebox'") // it was a temporary folder
	moved := make(map[int64]int64)                               // slots
	d.eachRef(func(ref string) string {
		parts := strings.Split(ref, ".") // t, slot, id, offset, length
		slot := number36(t, parts[1])
		width := slot >> wideShift * segmentPeriod
		by := (int64(deferral/time.Second)/width + 1) * width
		if _, done := moved[slot]; !done {
			moved[slot] = slot + by
			table := fmt.Sprint("raw_message_", slot+by)
			d.exec("CREATE TABLE " + table + " (LIKE raw_message INCLUDING ALL) WITH (toast_tuple_target = 8160)")
			d.exec(fmt.Sprintf("ALTER TABLE raw_message ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)", table, slot+by, slot+by+1))
		}
		id, err := base64.RawURLEncoding.DecodeString(parts[2])
		if err != nil {
			t.Fatalf("decode the identifier in %s: %v", ref, err)
		}
		later := slices.Clone(id)
		ms := binary.BigEndian.Uint64(append([]byte{0, 0}, id[:6]...)) + uint64(by)*1000
		copy(later, binary.BigEndian.AppendUint64(nil, ms)[2:])
		d.exec("UPDATE raw_message SET slot = $1, id = CAST($2 AS BYTEA) || substr(id, 17) WHERE slot = $3 AND substr(id, 1, 16) = $4", slot+by, later, slot, id)
		parts[1], parts[2] = strconv.FormatInt(slot+by, 36), base64.RawURLEncoding.EncodeToString(later)
		return strings.Join(parts, ".")
	})
	rows, err := d.QueryContext(t.Context(), "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = CAST('raw_message' AS regclass)")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var empty []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		slot, _ := strconv.ParseInt(strings.TrimPrefix(name, "raw_message_"), 10, 64)
		if !slices.Contains(slices.Collect(maps.Values(moved)), slot) {
			empty = append(empty, name)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("read rows: got the error %v, want none", err)
	}
	for _, name := range empty {
		d.exec("DROP TABLE " + name)
	}
}

func number36(t *testing.T, digits string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(digits, 36, 64)
	if err != nil {
		t.Fatalf("%q in a reference: %v", digits, err)
	}
	return n
}

// packFolder writes the files of a data folder that a service needs, in the order of their names.
func packFolder(t *testing.T, dir, file string) {
	t.Helper()
	var packed bytes.Buffer
	out := tar.NewWriter(&packed)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "reserve" || e.Name() == "LOCK" {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := out.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o600, Size: int64(len(data))}); err != nil {
			return err
		}
		_, err = out.Write(data)
		return err
	})
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	writeGzip(t, file, packed.Bytes())
}

// dump writes a database as statements, without the counts of limits.
func dump(t *testing.T, url, file string) {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), need(t, "pg_dump"), "--no-owner", "--inserts", "--rows-per-insert=100", "--exclude-table-data=rate_*", url).Output()
	if err != nil {
		t.Fatalf("pg_dump %s: %v", url, err)
	}
	writeGzip(t, file, text)
}

func writeGzip(t *testing.T, file string, plain []byte) {
	t.Helper()
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(plain)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, packed.Bytes())
}

func writeFile(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d octets", file, len(data))
}
