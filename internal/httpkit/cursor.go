package httpkit

import (
	"encoding/base64"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Paging is the query of every list.
type Paging struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"100" doc:"How many entries at most; 50 where absent."`
	Cursor string `query:"cursor" maxLength:"128" doc:"The nextCursor of the previous page."`
}

// PageSize returns how many entries a page has at most.
func (k *Kit) PageSize(p Paging) int {
	if p.Limit == 0 {
		return k.PageDefault
	}
	if k.PageMax > 0 {
		return min(p.Limit, k.PageMax)
	}
	return p.Limit
}

// encodeCursor makes a cursor of the position at which a page ended. Cursors are opaque to clients, and no secret.
func encodeCursor(position string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(position))
}

// Position returns the position at which the previous page ended, "" for the first page. Error: request.invalid.
func (p Paging) Position() (string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	if err != nil {
		return "", InvalidCursor()
	}
	return string(raw), nil
}

// InvalidCursor is request.invalid for a cursor that CutPage did not return.
func InvalidCursor() error {
	return problem.Invalid("?cursor", "is not a cursor returned in nextCursor")
}

// Before returns the identifier of the last entry of the previous page, "" for the first page. Error: request.invalid.
func Before[K id.Kind](p Paging) (last K, err error) {
	position, err := p.Position()
	if err != nil || position == "" {
		return "", err
	}
	if last, err = id.Parse[K](position); err != nil {
		return "", InvalidCursor()
	}
	return last, nil
}

// CutPage cuts to size entries a page that was queried with one entry more, and returns the cursor of the next page, ""
// if there is none. position returns the position of an entry.
func CutPage[T any](all []T, size int, position func(T) string) ([]T, string) {
	if len(all) <= size {
		return all, ""
	}
	return all[:size], encodeCursor(position(all[size-1]))
}
