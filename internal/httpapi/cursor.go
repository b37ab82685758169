package httpapi

import (
	"encoding/base64"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// cursorOf makes the place where a page ended a cursor: opaque to clients, and no secret (decisions §1 paging).
func cursorOf(place string) string { return base64.RawURLEncoding.EncodeToString([]byte(place)) }

// place is where the page before ended, "" in front of the first. Error: request.invalid.
func (p Paging) place() (string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	if err != nil {
		return "", noCursor()
	}
	return string(raw), nil
}

func noCursor() error {
	return problem.Invalid("?cursor", "is not a cursor that an answer's nextCursor gave")
}

// before is the identifier that the page before ended with, "" in front of the first. Error: request.invalid.
func before[K id.Kind](p Paging) (last K, err error) {
	place, err := p.place()
	if err != nil || place == "" {
		return "", err
	}
	if last, err = id.Parse[K](place); err != nil {
		return "", noCursor()
	}
	return last, nil
}

// size is how many entries a page has at most.
func (a *API) size(p Paging) int {
	if p.Limit == 0 {
		return a.Settings.PageDefault
	}
	return p.Limit
}

// cutPage cuts a page that was asked for with one entry too many, and gives the cursor of the next page, "" where there is none.
func cutPage[T any](all []T, size int, place func(T) string) ([]T, string) {
	if len(all) <= size {
		return all, ""
	}
	return all[:size], cursorOf(place(all[size-1]))
}
