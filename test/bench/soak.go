package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// What a soak asks of the service each second: mails, and calls of two kinds.
const (
	soakMails   = 50
	soakCreates = 10
	soakReads   = 190
)

// soakEvery is how far apart the samples of a soak are, and soakWarm the time in which everything that is kept has come and gone once.
const (
	soakEvery = 10 * time.Second
	soakWarm  = 6 * time.Minute
)

// soakColumns are what a sample holds. The first five are what should not grow. The disk is without the database's log: SQLite's grows by
// 10 MiB and more until it is truncated, every ten seconds as well, so that a sample finds it at any size.
var soakColumns = []string{"resident MiB", "heap MiB", "goroutines", "descriptors", "disk MiB", "mails", "calls", "failures", "slowest ms", "CPU seconds", "log MiB"}

// soak is a service under a load that stays the same.
type soak struct {
	*gonebox
	admin                string
	dirs                 []string // what it has on disk
	mu                   sync.Mutex
	boxes                []soakBox // that live, oldest first
	created              atomic.Int64
	mails, calls, failed atomic.Int64
	slowest              atomic.Int64 // milliseconds, since the last sample
	lastError            atomic.Pointer[error]
}

type soakBox struct {
	mailbox
	until time.Time // when it is left alone
}

// soakPart runs a service for a long time and samples what it holds. All that it keeps is erased within minutes, so that it turns
// over many times.
func soakPart(ctx context.Context, b *bench) (err error) {
	if !b.only["soak"] {
		return nil // it runs only where it is named, since it takes an hour
	}
	ports, err := freePorts(1)
	if err != nil {
		return err
	}
	dir := b.dataDir()
	s := &soak{admin: ports[0], dirs: []string{dir}}
	own := map[string]string{"metrics.addr": s.admin, "plans.guest.raw.retention": "2m", "mailbox.address_cooldown": "2m"}
	database, err := b.startDatabase(ctx, own)
	if err != nil {
		return err
	}
	if database != nil {
		defer func() { err = errors.Join(err, database.Close()) }()
		s.dirs = append(s.dirs, folder(database))
	}
	if s.gonebox, err = b.startGonebox(ctx, dir, own); err != nil {
		return err
	}
	defer s.stop()
	rows, err := s.run(ctx, b.duration, b.csv)
	if err == nil {
		b.report.soak(rows, b.duration, s.lastError.Load())
	}
	return err
}

// run loads the service for a while and returns the samples, which also go into a file if one is named.
func (s *soak) run(ctx context.Context, length time.Duration, name string) ([][]float64, error) {
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	loaded, cancel := context.WithTimeout(ctx, length)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	for _, flow := range []struct {
		rate, workers int
		do            func(context.Context, *soaker) error
	}{{soakMails, 8, s.mail}, {soakCreates, 2, s.create}, {soakReads, 8, s.read}} {
		for i, sender := range newSenders(small(), flow.workers) {
			w := &soaker{sender: sender}
			group.Go(func() { s.paced(loaded, w, i, flow.workers, flow.rate, flow.do) })
		}
	}
	return s.sampled(ctx, loaded, csv.NewWriter(file))
}

func (s *soak) sampled(ctx, loaded context.Context, w *csv.Writer) (rows [][]float64, err error) {
	_ = w.Write(append([]string{"seconds"}, soakColumns...)) // an error is kept, and Error returns it after Flush
	begun := time.Now()
	for {
		select {
		case <-loaded.Done():
			return rows, ctx.Err()
		case <-time.After(soakEvery):
		}
		row, err := s.sample(ctx)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
		texts := []string{fmt.Sprintf("%.0f", time.Since(begun).Seconds())}
		for _, v := range row {
			texts = append(texts, strconv.FormatFloat(v, 'f', 2, 64))
		}
		_ = w.Write(texts)
		if w.Flush(); w.Error() != nil {
			return nil, w.Error()
		}
	}
}

// soaker is one of the clients of a soak.
type soaker struct {
	sender *sender
	caller *caller // nil: not connected
}

// paced does something at a rate that does not depend on how long it takes; what is late is done at once. A failure is counted and
// costs the connection.
func (s *soak) paced(ctx context.Context, w *soaker, worker, workers, rate int, do func(context.Context, *soaker) error) {
	begun := time.Now()
	for i := worker; ; i += workers {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(begun.Add(time.Duration(i) * time.Second / time.Duration(rate)))):
		}
		at := time.Now()
		err := do(ctx, w)
		s.slowest.Store(max(s.slowest.Load(), time.Since(at).Milliseconds()))
		if err != nil && ctx.Err() == nil {
			s.failed.Add(1)
			s.lastError.Store(&err)
			if w.caller != nil {
				w.caller.conn.Close()
				w.caller = nil
			}
		}
	}
}

// pick returns a mailbox that lives for some seconds more, if there is one.
func (s *soak) pick() (box mailbox, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.boxes) > 0 && time.Now().After(s.boxes[0].until) {
		s.boxes = s.boxes[1:]
	}
	if len(s.boxes) == 0 {
		return mailbox{}, false
	}
	return s.boxes[rand.IntN(len(s.boxes))].mailbox, true
}

func (s *soak) create(ctx context.Context, w *soaker) error {
	box := soakBox{until: time.Now().Add(45 * time.Second)}
	body := fmt.Sprintf(`{"ttl": 60, "localPart": %q}`, boxName(int(s.created.Add(1))))
	if err := s.call(ctx, w, request("POST", base+"/mailboxes", "", body), 201); err != nil {
		return err
	}
	if err := json.Unmarshal(w.caller.body, &struct{ Data *mailbox }{&box.mailbox}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.boxes = append(s.boxes, box)
	return nil
}

func (s *soak) mail(ctx context.Context, w *soaker) error {
	box, ok := s.pick()
	if !ok {
		return nil
	}
	_, err := load{addrs: []string{s.smtp}, boxes: []mailbox{box}, length: patience, most: 1}.run(ctx, []*sender{w.sender})
	if err == nil {
		s.mails.Add(1)
	}
	return err
}

// read lists a mailbox or reads its latest code, of which a new mailbox has none.
func (s *soak) read(ctx context.Context, w *soaker) error {
	box, ok := s.pick()
	if !ok {
		return nil
	}
	if rand.IntN(2) == 0 {
		return s.call(ctx, w, request("GET", base+"/mailboxes/me/otp/latest", box.Token, ""), 200, 404)
	}
	return s.call(ctx, w, request("GET", base+"/mailboxes/me/messages?limit=20", box.Token, ""), 200)
}

// call makes a call whose answer must have one of some statuses.
func (s *soak) call(ctx context.Context, w *soaker, request []byte, statuses ...int) (err error) {
	if w.caller == nil {
		if w.caller, err = dial(ctx, s.web); err != nil {
			return err
		}
	}
	status, err := w.caller.do(request)
	if err == nil && !slices.Contains(statuses, status) {
		err = fmt.Errorf("%.60s: status %d: %s", request, status, w.caller.body)
	}
	if err == nil {
		s.calls.Add(1)
	}
	return err
}

// sample is the present value of each column.
func (s *soak) sample(ctx context.Context) ([]float64, error) {
	if err := s.alive(); err != nil {
		return nil, fmt.Errorf("%w:\n%s", err, s.logged())
	}
	resident, err := s.memory()
	if err != nil {
		return nil, err
	}
	cpu, err := s.cpu()
	if err != nil {
		return nil, err
	}
	c, err := dial(ctx, s.admin)
	if err != nil {
		return nil, err
	}
	defer c.conn.Close()
	if status, err := c.do(request("GET", "/metrics", "", "")); err != nil || status != 200 {
		return nil, fmt.Errorf("metrics: status %d: %w", status, err)
	}
	metrics := string(c.body)
	disk, logs, err := diskUse(s.dirs...)
	return []float64{
		mebibytes(resident), metric(metrics, "go_memstats_heap_inuse_bytes") / (1 << 20), metric(metrics, "go_goroutines"),
		metric(metrics, "process_open_fds"), mebibytes(disk), float64(s.mails.Load()), float64(s.calls.Load()), float64(s.failed.Load()),
		float64(s.slowest.Swap(0)), cpu.Seconds(), mebibytes(logs),
	}, err
}

// metric is the value of a metric without labels, or NaN.
func metric(text, name string) float64 {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			if v, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
				return v
			}
		}
	}
	return math.NaN()
}

// diskUse is what folders occupy on the disk, apart from the write-ahead logs of the database, and what those occupy.
func diskUse(dirs ...string) (disk, logs int64, err error) {
	for _, dir := range dirs {
		err = errors.Join(err, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // the file has just been erased
			}
			info, err := d.Info()
			if err != nil {
				return nil //nolint:nilerr // likewise
			}
			octets := info.Sys().(*syscall.Stat_t).Blocks * 512
			if isLog(path) {
				logs += octets
			} else {
				disk += octets
			}
			return nil
		}))
	}
	return disk, logs, err
}

// isLog reports whether a file belongs to the write-ahead log of SQLite or PostgreSQL.
func isLog(path string) bool {
	return strings.HasSuffix(path, "-wal") || filepath.Base(filepath.Dir(path)) == "pg_wal"
}

// slope is the change an hour of values that are soakEvery apart, by least squares.
func (s series) slope() float64 {
	var sum, x, xx, xy float64
	for i, v := range s {
		t := float64(i) * soakEvery.Hours()
		sum, x, xx, xy = sum+v, x+t, xx+t*t, xy+t*v
	}
	n := float64(len(s))
	return (n*xy - x*sum) / (n*xx - x*x)
}

func (s series) mean() float64 {
	sum := 0.0
	for _, v := range s {
		sum += v
	}
	return sum / float64(len(s))
}

func (r *report) soak(rows [][]float64, length time.Duration, last *error) {
	r.say("\nSOAK: %s with %d mails of 4 KiB and %d calls a second, mailboxes of a minute, raw messages and held addresses of two", length, soakMails, soakCreates+soakReads)
	warm := min(int(soakWarm/soakEvery), len(rows)/4)
	quarter := (len(rows) - warm) / 4
	if quarter == 0 {
		r.say("  too short for a trend")
		return
	}
	table := [][]string{{fmt.Sprintf("after the first %s", time.Duration(warm)*soakEvery), "mean of the first quarter", "of the last", "last of first", "change an hour", "least–most"}}
	for i, name := range soakColumns[:5] {
		var s series
		for _, row := range rows[warm:] {
			s = append(s, row[i])
		}
		first, final := s[:quarter].mean(), s[len(s)-quarter:].mean()
		table = append(table, []string{name, fmt.Sprintf("%.1f", first), fmt.Sprintf("%.1f", final), fmt.Sprintf("%.3f", final/first), fmt.Sprintf("%+.2f", s.slope()), fmt.Sprintf("%.1f–%.1f", slices.Min(s), slices.Max(s))})
	}
	r.table(table)
	var slow series
	for _, row := range rows {
		slow = append(slow, row[8])
	}
	var logs series
	for _, row := range rows[warm:] {
		logs = append(logs, row[10])
	}
	r.say("  beside that the database's log took %.1f MiB in the median, %.1f–%.1f", logs.median(), slices.Min(logs), slices.Max(logs))
	end := rows[len(rows)-1]
	took := float64(len(rows)) * soakEvery.Seconds()
	r.say("  %.0f mails (%.1f a second), %.0f calls (%.1f a second), %.0f failures; %.1f %% of one processor; the slowest of ten seconds took %.0f ms in the median, %.0f at most",
		end[5], end[5]/took, end[6], end[6]/took, end[7], 100*end[9]/took, slow.median(), slices.Max(slow))
	if last != nil {
		r.say("  the last failure: %v", *last)
	}
}
