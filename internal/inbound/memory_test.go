package inbound

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/mailparse"
	"github.com/gonebox/gonebox/internal/raw"
)

// segmented stores raw messages in files.
type segmented struct{ *raw.Segments }

func (s segmented) Append(at time.Time, records []raw.Record) ([]raw.Ref, func() error, error) {
	refs, synced, err := s.Segments.Append(at, records)
	if err != nil {
		return nil, nil, err
	}
	return refs, synced.Wait, nil
}

func (segmented) InsertTx(context.Context, *db.Tx, []raw.Ref, []raw.Record) error { return nil }

// Delivering a mail uses no more memory than Memory predicts, whatever the mail contains. The test measures the live heap by running the
// garbage collector over and over during the delivery. This may miss the peak, so that the test passes although it should not. It also counts
// memory that is allocated and dropped during a collection, which can be much on a busy machine, so a mail that seems to use too much is
// delivered again.
func TestDeliverUsesNoMoreMemoryThanPredicted(t *testing.T) {
	rawMessages, err := raw.Open(t.TempDir(), clock.NewFake(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer rawMessages.Close()
	s := newBare(t, dbtest.Open(t, db.Options{}), segmented{rawMessages})
	deliver := func(data []byte) {
		m := s.benchMail(t, "bench1", data)
		if err := s.store([]*mail{m}); err != nil || m.err != nil {
			t.Fatalf("store = %v, the mail has %v, want no error of either", err, m.err)
		}
		m.release()
	}
	deliver([]byte(multipart("Content-Type: text/html", "your code is 123456"))) // initialise what is created only once
	for name, content := range mailsOfAllKinds() {
		t.Run(name, func(t *testing.T) {
			data := []byte(content)
			size := int64(len(data))
			most := memoryOf(size, mailparse.Parse(data)) // the size of the lease after shrinking
			most = min(most, s.Memory(size))
			const extraction = 10 << 20 // not part of the lease, since only GOMAXPROCS extractions run at a time
			peak := int64(math.MaxInt64)
			for tries := 10; peak > most+extraction && tries > 0; tries-- {
				peak = min(peak, peakOf(func() { deliver(data) }))
			}
			t.Logf("%d octets took %d, %.1f times as many; %d are acquired", len(data), peak, float64(peak)/float64(len(data)), most)
			if peak > most+extraction {
				t.Errorf("%d octets of memory are acquired, %d were used, want at most %v", most, peak, most+extraction)
			}
		})
	}
}

// peakOf runs do and returns the largest live heap that it saw meanwhile, less the live heap before.
func peakOf(do func()) (peak int64) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	live := func() int64 {
		runtime.GC()
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64())
	}
	live() // empties pools
	before := live()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			peak = max(peak, live()-before)
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	do()
	close(stop)
	<-stopped
	return peak
}

func mailsOfAllKinds() map[string]string {
	const mib = 1 << 20
	const file, text, html = "Content-Type: application/x\r\nContent-Transfer-Encoding: base64", "Content-Type: text/plain", "Content-Type: text/html"
	const message = "Content-Type: message/rfc822"
	return map[string]string{
		"one file":                multipart(text, "hi", file, base64Lines(7*mib)),
		"files":                   multipart(file, base64Lines(2*mib), file, base64Lines(2*mib), file, base64Lines(2*mib)),
		"many files":              multipart(repeated(900, file, base64Lines(7000))...),
		"a file without encoding": multipart("Content-Type: application/x", strings.ReplaceAll(base64Lines(4*mib), "\r\n", "")),
		"a mail in a mail":        multipart(message, multipart(file, base64Lines(3*mib))),
		"mails in mails":          multipart(message, multipart(message, multipart(message, multipart(message, multipart(file, base64Lines(3*mib)))))),
		"text":                    multipart(text, words(4*mib)),
		"numbers":                 multipart(text, strings.Repeat("123456 ", 4*mib/7)),
		"lines":                   multipart(text, strings.Repeat("1\r\n", 4*mib/3)),
		"quoted text":             multipart(text+"\r\nContent-Transfer-Encoding: quoted-printable", strings.Repeat("=C3=A9 code 123456 ", mib/2)),
		"text in KOI8":            multipart(text+"; charset=koi8-r", strings.Repeat("\xc1\xc2\xc3 code 12345\r\n", mib/4)),
		"HTML":                    multipart(html, "<html><body>"+words(4*mib)),
		"tags":                    multipart(html, strings.Repeat("<b>", mib)),
		"paragraphs":              multipart(html, strings.Repeat("<p>a", mib)),
		"attributes":              multipart(html, strings.Repeat("<a b c d e f g h>", mib/4)),
		"tables":                  multipart(html, strings.Repeat("<table><tr><td>12345</td></tr></table>", mib/10)),
		"text and HTML":           multipart(text, words(4*mib), html, strings.Repeat("<p>a 123456 ", mib/3)),
		"header fields":           strings.Repeat("X: "+strings.Repeat("=?utf-8?q?=C3=A9?= ", 26)+"\r\n", 1900) + "\r\nhi",
		"recipients":              strings.Repeat("To: "+strings.Repeat("a@b.cc, ", 8000)+"\r\n", 15) + "\r\nhi",
		"little text":             multipart(text, words(64<<10)),
		"little HTML":             multipart(html, strings.Repeat("<b>a", 16<<10)),
	}
}

// multipart returns a mail with parts, each of which is given by two arguments: its header fields and its body.
func multipart(parts ...string) string {
	var m strings.Builder
	m.WriteString("From: a@sender.example\r\nSubject: x\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b" + fmt.Sprint(len(parts[1])) + "\r\n")
	for i := 0; i < len(parts); i += 2 {
		fmt.Fprintf(&m, "\r\n--b%d\r\n%s\r\n\r\n%s", len(parts[1]), parts[i], parts[i+1])
	}
	fmt.Fprintf(&m, "\r\n--b%d--\r\n", len(parts[1]))
	return m.String()
}

func repeated(n int, texts ...string) (all []string) {
	for range n {
		all = append(all, texts...)
	}
	return all
}

// base64Lines returns n random octets in base64. They do not compress.
func base64Lines(n int) string {
	octets := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(octets)
	var b strings.Builder
	b.Grow(n * 3 / 2)
	for text := base64.StdEncoding.EncodeToString(octets); text != ""; {
		line := text[:min(76, len(text))]
		b.WriteString(line + "\r\n")
		text = text[len(line):]
	}
	return b.String()
}

// words returns a text of about n octets.
func words(n int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	some := []string{"code", "your", "verification", "is", "hello", "http://x.example/verify?a="}
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "%s%d ", some[rng.IntN(len(some))], rng.IntN(1_000_000))
		if rng.IntN(8) == 0 {
			b.WriteString("\r\n")
		}
	}
	return b.String()
}
