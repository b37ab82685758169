package raw_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/raw"
)

// No part of a message is in a segment, in whichever form its record has.
func TestSegmentsHoldNothingThatCanBeReadWithoutAReference(t *testing.T) {
	token := "a word that only this message has"
	body := append(randomBytes(70_000), token...)
	dir := t.TempDir()
	s := open(t, dir, clock.NewFake(start))
	for name, data := range map[string][]byte{
		"stored": raw.Store(nil, body), "in chunks": raw.CompressChunks(nil, body), "large": raw.Store(nil, body, randomBytes(2<<20)), "short": raw.Store(nil, []byte(token)),
	} {
		if !bytes.Contains(data, []byte(token)) {
			t.Fatalf("%s: the compressed message does not contain the token, want it there, since the test finds nothing otherwise", name)
		}
		keep(t, s, start, []raw.Record{raw.Seal(free, data)})
		content, err := os.ReadFile(files(t, dir)[0])
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(content, []byte(token)) || bytes.Contains(content, body[:16]) {
			t.Errorf("%s: the segment contains a part of the message, want none", name)
		}
	}
}

// A reference that differs in its key leads to no octets, however the message is read.
func TestAnotherKeyReadsNothing(t *testing.T) {
	s := open(t, t.TempDir(), clock.NewFake(start))
	for name, data := range map[string][]byte{"stored": raw.Store(nil, text(100)), "compressed": raw.Compress(nil, text(5000)), "in chunks": raw.CompressChunks(nil, text(200_000))} {
		refs := keep(t, s, start, []raw.Record{raw.Seal(free, data), raw.Seal(free, bytes.Clone(data))})
		of := func(r raw.Ref) (place, key string) {
			at := strings.LastIndexByte(string(r), '.')
			return string(r)[:at+1], string(r)[at+1:]
		}
		place, _ := of(refs[0])
		_, other := of(refs[1])
		forged := raw.Ref(place + other)
		wantGone(t, s, forged, raw.ErrDamaged)
		r, err := s.NewReader(t.Context(), forged)
		var got []byte
		if err == nil {
			got, err = readAll(t, r)
		}
		if !errors.Is(err, raw.ErrDamaged) || len(got) > 0 {
			t.Errorf("%s: reading with another key gave %d bytes and the error %v, want none and %v", name, len(got), err, raw.ErrDamaged)
		}
	}
}

// Errors are logged, and a log is kept for longer than the rows with the key.
func TestErrorsDoNotContainTheKey(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, clock.NewFake(start))
	ref := keep(t, s, start, records(free, text(100)))[0]
	key := string(ref)[strings.LastIndexByte(string(ref), '.')+1:]
	if err := os.Remove(files(t, dir)[0]); err != nil {
		t.Fatal(err)
	}
	_, read := s.Read(ref)
	_, opened := s.NewReader(t.Context(), ref)
	_, foreign := s.Read("x" + ref)
	for call, err := range map[string]error{"Read": read, "NewReader": opened, "Read of a foreign reference": foreign} {
		if err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("%s: got the error %v, want one without the key", call, err)
		}
	}
}

func BenchmarkSeal(b *testing.B) {
	data := randomBytes(4 << 10)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		raw.Seal(free, data)
	}
}
