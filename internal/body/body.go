// Package body reads the bodies of requests to the HTTP servers of the process: at most so many octets, with at most so many
// JSON tokens, into memory that was leased before (docs/spec/limits.md#memory). A test of the house holds that nothing
// else reads a body.
package body

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/gonebox/gonebox/internal/budget"
)

// Bounds bound a body and the memory for it.
type Bounds struct {
	Octets int64               // the most octets
	Tokens int                 // the most names, values and brackets of a JSON document; 0: it is not JSON, or checked later
	Cost   func(n int64) int64 // the octets of memory that a body of n octets takes, with what is made of it
	Lease  func(ctx context.Context, n int64) (*budget.Lease, error)
}

// ErrBrokeOff means that the client did not send the whole body.
var ErrBrokeOff = errors.New("the body broke off")

// TooLargeError means that a body has more octets than Max.
type TooLargeError struct{ Max int64 }

// Error says how many octets are allowed.
func (e *TooLargeError) Error() string { return fmt.Sprintf("the body has more than %d octets", e.Max) }

// TooComplexError means that a JSON document has more tokens than Max, or is nested too deep.
type TooComplexError struct{ Max int }

// Error says how many tokens are allowed.
func (e *TooComplexError) Error() string {
	return fmt.Sprintf("the body has more than %d names, values and brackets, or is nested more than %d deep", e.Max, depthMax)
}

const (
	// first is how many octets are read before memory is leased, so that a client that sends nothing, or does not say how
	// much it sends, holds none.
	first = 16 << 10

	// drainMax is how many octets of a body that is too large are read and dropped, so that a client that sends all of it
	// before it reads gets the response instead of a connection reset.
	drainMax = 1 << 20
)

// Read reads the body of a request. The caller must release the lease, which covers Cost of its length. Errors:
// *TooLargeError, *TooComplexError, ErrBrokeOff, and that of Lease.
func Read(ctx context.Context, r *http.Request, b Bounds) ([]byte, *budget.Lease, error) {
	if r.ContentLength > b.Octets {
		Drain(r, drainMax)
		return nil, nil, &TooLargeError{b.Octets}
	}
	in := &reader{from: io.LimitReader(r.Body, b.Octets+1), tokens: b.Tokens}
	begin, err := io.ReadAll(io.LimitReader(in, min(first, b.Octets+1)))
	if err != nil {
		return nil, nil, refused(r, err, b)
	}
	expected := int64(len(begin))
	if expected == first { // the body may be longer than what was read
		expected = b.Octets
		if r.ContentLength >= 0 {
			expected = r.ContentLength
		}
	}
	lease, err := b.Lease(ctx, b.Cost(expected))
	if err != nil {
		return nil, nil, err
	}
	whole := bytes.NewBuffer(begin)
	if r.ContentLength >= 0 {
		whole.Grow(max(int(expected)-len(begin), 0) + bytes.MinRead)
	}
	_, err = whole.ReadFrom(in)
	body := whole.Bytes()
	if err == nil && int64(len(body)) > b.Octets {
		err = &TooLargeError{b.Octets}
	}
	if err != nil {
		lease.Release()
		return nil, nil, refused(r, err, b)
	}
	lease.Shrink(lease.Size() - b.Cost(int64(len(body))))
	return body, lease, nil
}

// refused returns the error of a body that is not read to its end. It drops what is left of one that has too many tokens,
// and the beginning of what is left of one that is too large.
func refused(r *http.Request, err error, b Bounds) error {
	if _, ok := errors.AsType[*TooLargeError](err); ok {
		Drain(r, drainMax)
		return err
	}
	if _, ok := errors.AsType[*TooComplexError](err); ok {
		Drain(r, b.Octets)
		return err
	}
	return ErrBrokeOff
}

// Drain drops at most max octets of a body that a client may have sent already. A client that waits for 100 Continue has
// sent nothing.
func Drain(r *http.Request, max int64) {
	if r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, r.Body, max)
	}
}

// reader reads a body and counts its tokens, so that a document with too many is refused before it has arrived.
type reader struct {
	from   io.Reader
	tokens int // the most; 0: any number
	count  counter
}

// Read is io.Reader.Read. Error: *TooComplexError.
func (r *reader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if r.tokens > 0 && !r.count.add(p[:n], r.tokens) {
		return n, &TooComplexError{r.tokens}
	}
	return n, err
}

// Count returns how many names, values and brackets a JSON document has, and how deep it nests. Of anything else it
// returns some numbers.
func Count(document []byte) (tokens, depth int) {
	var c counter
	c.add(document, len(document))
	return c.tokens, c.deepest
}

// depthMax is how deep a JSON document may nest. No call takes one that is half as deep.
const depthMax = 64

// counter counts the tokens of a JSON document without keeping any of it. It does not check the document.
type counter struct {
	tokens, depth, deepest int

	inString, escaped bool // within a string; behind a backslash
	inLiteral         bool // within a number, true, false or null
}

// add counts the tokens of the next part of a document. It returns false when there are more than most, or when they nest
// more than depthMax deep.
func (c *counter) add(part []byte, most int) bool {
	for _, b := range part {
		switch {
		case c.escaped:
			c.escaped = false
		case c.inString:
			c.escaped, c.inString = b == '\\', b != '"'
		case b == '"':
			c.inString, c.inLiteral = true, false
			c.tokens++
		case b == '{', b == '[':
			c.inLiteral = false
			c.tokens++
			c.depth++
			c.deepest = max(c.deepest, c.depth)
		case b == '}', b == ']':
			c.inLiteral = false
			c.tokens++
			c.depth--
		case b == ',', b == ':', b <= ' ':
			c.inLiteral = false
		case !c.inLiteral:
			c.inLiteral = true
			c.tokens++
		}
		if c.tokens > most || c.depth > depthMax {
			return false
		}
	}
	return true
}
