package resolver

import (
	"context"
	"errors"
	"net"
	"strings"
)

// ErrNoServer is wrapped by the errors of look-ups that were not sent because no server has answered lately.
var ErrNoServer = errors.New("no DNS server answers")

// The words of the standard library, which some callers print.
const noSuchHost = "no such host"

func notFound(q question) *net.DNSError {
	return &net.DNSError{Err: noSuchHost, Name: q.shown(), IsNotFound: true}
}

func temporary(q question, why string) *net.DNSError {
	return &net.DNSError{Err: why, Name: q.shown(), IsTemporary: true}
}

// abandoned is for a caller that stopped waiting; the query itself goes on.
func abandoned(q question, cause error) *net.DNSError {
	e := temporary(q, cause.Error())
	e.IsTimeout = errors.Is(cause, context.DeadlineExceeded)
	e.UnwrapErr = cause
	return e
}

func isNotFound(err error) bool {
	e, ok := errors.AsType[*net.DNSError](err)
	return ok && e.IsNotFound
}

// shown is the name as people write it.
func (q question) shown() string { return strings.TrimSuffix(q.name, ".") }
