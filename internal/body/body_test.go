package body_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gonebox/gonebox/internal/body"
	"github.com/gonebox/gonebox/internal/budget"
)

// bounds returns bounds of 100,000 octets and 50 tokens. Each octet costs two of the memory of b.
func bounds(b *budget.Budget) body.Bounds {
	return body.Bounds{
		Octets: 100_000, Tokens: 50, Cost: func(n int64) int64 { return 2 * n },
		Lease: func(ctx context.Context, n int64) (*budget.Lease, error) {
			return b.Acquire(ctx, budget.Request, "client", n)
		},
	}
}

// request returns a request with a body whose length is declared unless it is negative.
func request(t *testing.T, content io.Reader, length int64) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", io.NopCloser(content))
	r.ContentLength = length
	return r
}

func TestRead(t *testing.T) {
	long := `"` + strings.Repeat("x", 90_000) + `"`
	large := `"` + strings.Repeat("x", 200_000) + `"`
	complicated := "[" + strings.Repeat("1,", 60) + "1]"
	nested := strings.Repeat("[", 65)
	tooLarge := func(err error) bool { e, ok := errors.AsType[*body.TooLargeError](err); return ok && e.Max == 100_000 }
	tooComplex := func(err error) bool { _, ok := errors.AsType[*body.TooComplexError](err); return ok }
	brokeOff := func(err error) bool { return errors.Is(err, body.ErrBrokeOff) }
	for name, test := range map[string]struct {
		content string
		failing bool // the connection fails behind the content
		length  int64
		refused func(error) bool // nil: the content is returned
	}{
		"empty":                     {"", false, 0, nil},
		"short":                     {`{"a":1}`, false, 7, nil},
		"short, length unknown":     {`{"a":1}`, false, -1, nil},
		"long":                      {long, false, int64(len(long)), nil},
		"long, length unknown":      {long, false, -1, nil},
		"too large":                 {large, false, int64(len(large)), tooLarge},
		"too large, length unknown": {large, false, -1, tooLarge},
		"too many tokens":           {complicated, false, int64(len(complicated)), tooComplex},
		"too many, length unknown":  {complicated, false, -1, tooComplex},
		"nested":                    {nested, false, -1, tooComplex},
		"broken off at once":        {"", true, 100, brokeOff},
		"broken off later":          {long[:50_000], true, int64(len(long)), brokeOff},
	} {
		b := budget.New(64 << 20)
		content := io.Reader(strings.NewReader(test.content))
		if test.failing {
			content = io.MultiReader(content, iotest.ErrReader(io.ErrUnexpectedEOF))
		}
		got, lease, err := body.Read(t.Context(), request(t, content, test.length), bounds(b))
		switch {
		case test.refused != nil:
			if !test.refused(err) {
				t.Errorf("%s: Read returned the error %v, want the refusal of the case", name, err)
			}
		case err != nil || string(got) != test.content:
			t.Errorf("%s: Read returned %d octets and the error %v, want the %d that were sent", name, len(got), err, len(test.content))
		case lease.Size() != 2*int64(len(got)):
			t.Errorf("%s: the lease of a body of %d octets has %d, want two for each", name, len(got), lease.Size())
		}
		if lease.Release(); b.InUse() != 0 {
			t.Errorf("%s: %d octets are leased after Release, want 0", name, b.InUse())
		}
	}
}

// A body that has too many tokens is refused where it has them: what follows is dropped and not kept.
func TestComplexBodyIsRefusedEarly(t *testing.T) {
	b := budget.New(64 << 20)
	sent := 0
	endless := iotest.OneByteReader(readerFunc(func(p []byte) (int, error) {
		sent += len(p)
		for i := range p {
			p[i] = '['
		}
		return len(p), nil
	}))
	r := request(t, endless, -1)
	r.Header.Set("Expect", "100-continue") // so that nothing is drained
	_, _, err := body.Read(t.Context(), r, bounds(b))
	if _, ok := errors.AsType[*body.TooComplexError](err); !ok || sent > 60 {
		t.Errorf("Read of brackets without an end read %d octets and returned %v, want *TooComplexError after 51", sent, err)
	}
}

// A client that declares a large body and sends nothing holds no memory.
func TestSilentClientHoldsNoMemory(t *testing.T) {
	b := budget.New(64 << 20)
	held := int64(-1)
	silent := readerFunc(func([]byte) (int, error) {
		held = b.InUse()
		return 0, io.ErrUnexpectedEOF
	})
	if _, _, err := body.Read(t.Context(), request(t, silent, 90_000), bounds(b)); !errors.Is(err, body.ErrBrokeOff) {
		t.Errorf("Read of a body that does not come: %v, want ErrBrokeOff", err)
	}
	if held != 0 {
		t.Errorf("%d octets were leased for a client that had sent nothing, want 0", held)
	}
}

func TestReadReturnsTheErrorOfTheLease(t *testing.T) {
	limits := bounds(budget.New(1 << 20))
	limits.Lease = func(context.Context, int64) (*budget.Lease, error) { return nil, budget.ErrExhausted }
	if _, _, err := body.Read(t.Context(), request(t, strings.NewReader("{}"), 2), limits); !errors.Is(err, budget.ErrExhausted) {
		t.Errorf("Read without memory: %v, want ErrExhausted", err)
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// Of every valid document, Count says what the decoder of the standard library finds.
func FuzzCount(f *testing.F) {
	for _, document := range []string{`{}`, `[]`, `{"a":[1,-2.5e3,true,false,null,"\"[{\\"]}`, `"x"`, ` 12 `, `[[],{"b":{}}]`, `{"a\\":"\\\\"}`, `[1,[`, `"`} {
		f.Add([]byte(document))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		tokens, depth := body.Count(document)
		if !json.Valid(document) {
			return
		}
		decoder := json.NewDecoder(bytes.NewReader(document))
		wantTokens, wantDepth, at := 0, 0, 0
		for {
			token, err := decoder.Token()
			if err != nil {
				break
			}
			wantTokens++
			switch token {
			case json.Delim('{'), json.Delim('['):
				at++
			case json.Delim('}'), json.Delim(']'):
				at--
			}
			wantDepth = max(wantDepth, at)
		}
		if wantDepth <= 64 && (tokens != wantTokens || depth != wantDepth) {
			t.Errorf("Count(%q) = %d tokens, %d deep, want %d and %d", document, tokens, depth, wantTokens, wantDepth)
		}
	})
}
