package mailtm

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/problem"
)

// linked are the members that a resource has in JSON-LD and not in plain JSON.
type linked struct {
	Context string `json:"@context,omitempty"`
	IRI     string `json:"@id,omitempty"`
	Type    string `json:"@type,omitempty"`
}

// wantsJSON reports whether the client asks for plain JSON and not for JSON-LD. An absent or general Accept gets
// JSON-LD, the default of mail.tm.
func wantsJSON(r *http.Request) bool {
	accept := strings.ToLower(strings.Join(r.Header.Values("Accept"), ","))
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "ld+json")
}

// link returns the JSON-LD members of a resource. outer is false for a resource that is nested in another one, which has no @context.
func link(r *http.Request, kind, iri string, outer bool) linked {
	if wantsJSON(r) {
		return linked{}
	}
	l := linked{IRI: iri, Type: kind}
	if outer {
		l.Context = "/contexts/" + kind
	}
	return l
}

// answer writes a resource in the form that the client asks for.
func answer(w http.ResponseWriter, r *http.Request, status int, v any) error {
	media := "application/ld+json; charset=utf-8"
	if wantsJSON(r) {
		media = "application/json; charset=utf-8"
	}
	return write(w, status, media, v)
}

// write writes a value as JSON. An error means that nothing has been written.
func write(w http.ResponseWriter, status int, media string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", media)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(text) // fails only where the client is gone
	return nil
}

// pageLen is how many resources a page has. It is that of mail.tm; clients depend on it.
const pageLen = 30

// pageOf returns the number of the page that is asked for, from 1. The upper bound keeps the offset within the range of
// an int. Error: request.invalid.
func pageOf(r *http.Request) (int, error) {
	text := r.URL.Query().Get("page")
	if text == "" {
		return 1, nil
	}
	const pageMax = 1 << 24
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > pageMax {
		return 0, problem.Invalid("?page", "must be a whole number, 1 or more")
	}
	return n, nil
}

// collection is the envelope of a list in JSON-LD.
type collection[T any] struct {
	linked
	Total   int   `json:"hydra:totalItems"`
	Members []T   `json:"hydra:member"`
	View    *view `json:"hydra:view,omitempty"`
}

// view names the other pages of a list.
type view struct {
	IRI      string `json:"@id"`
	Type     string `json:"@type"`
	First    string `json:"hydra:first"`
	Last     string `json:"hydra:last"`
	Previous string `json:"hydra:previous,omitempty"`
	Next     string `json:"hydra:next,omitempty"`
}

// answerList writes a page of a list of total resources. path is that of the list, for the links to its other pages. In
// plain JSON the members are all there is, without the total.
func answerList[T any](w http.ResponseWriter, r *http.Request, kind, path string, page, total int, members []T) error {
	if members == nil {
		members = []T{}
	}
	if wantsJSON(r) {
		return answer(w, r, http.StatusOK, members)
	}
	c := collection[T]{linked: linked{"/contexts/" + kind, path, "hydra:Collection"}, Total: total, Members: members}
	if last := (total + pageLen - 1) / pageLen; last > 1 {
		at := func(n int) string { return fmt.Sprintf("%s?page=%d", path, n) }
		c.View = &view{IRI: at(page), Type: "hydra:PartialCollectionView", First: at(1), Last: at(last)}
		if page > 1 {
			c.View.Previous = at(min(page-1, last))
		}
		if page < last {
			c.View.Next = at(page + 1)
		}
	}
	return answer(w, r, http.StatusOK, c)
}

// body decodes the body of a request. A body that breaks off counts as too large. Errors: request.invalid,
// request.too_large.
func (a *API) body(w http.ResponseWriter, r *http.Request, v any) error {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, a.HTTP.BodyMax))
	if err != nil {
		return problem.Detailf(problem.RequestTooLarge, "the body may have %d octets at most", a.HTTP.BodyMax)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return problem.Detailf(problem.RequestInvalid, "the body must be a JSON object with the members of this call")
	}
	return nil
}

// fault is the body of an error answer, in the format of mail.tm.
type fault struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
}

// fail answers with an error. Clients that ask for plain JSON decode the body only if its media type is application/json.
func fail(w http.ResponseWriter, r *http.Request, status int, detail string) {
	media := "application/problem+json; charset=utf-8"
	if wantsJSON(r) {
		media = "application/json; charset=utf-8"
	}
	_ = write(w, status, media, fault{"https://tools.ietf.org/html/rfc2616#section-10", "An error occurred", detail})
}

// refused is the body of the answer 401 to wrong credentials.
type refused struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// violations is the body of the answer 422 to a request with an invalid member.
type violations struct {
	linked
	HydraTitle  string      `json:"hydra:title"`
	Description string      `json:"hydra:description"`
	Type        string      `json:"type"`
	Title       string      `json:"title"`
	Detail      string      `json:"detail"`
	All         []violation `json:"violations"`
}

// violation is what is wrong with one member.
type violation struct {
	Path    string `json:"propertyPath"`
	Message string `json:"message"`
	Code    string `json:"code"`
}

// invalid is an error about one member of a request body.
type invalid struct{ property, message, code string }

func (i invalid) Error() string { return i.property + ": " + i.message }

// answer writes the answer 422 in the format of mail.tm.
func (i invalid) answer(w http.ResponseWriter, r *http.Request) {
	const title = "An error occurred"
	_ = answer(w, r, http.StatusUnprocessableEntity, violations{
		linked: linked{Context: "/contexts/ConstraintViolationList", Type: "ConstraintViolationList"}, HydraTitle: title, Description: i.Error(),
		Type: "/validation_errors/" + url.PathEscape(i.code), Title: title, Detail: i.Error(), All: []violation{{i.property, i.message, i.code}},
	})
}

// failed answers with the error that a handler returned, in the format of mail.tm.
//
// Clients recognize the texts for credentials, so those replace ours. For other problems the detail is ours. An error
// that is not a problem was logged by ProblemOf and becomes a 500.
func (a *API) failed(w http.ResponseWriter, r *http.Request, err error) {
	if i, ok := err.(invalid); ok { // no handler wraps it
		i.answer(w, r)
		return
	}
	p := a.kit.ProblemOf(r.Context(), err)
	status, detail := p.Status(), p.Title()
	if p.Detail != "" {
		detail = p.Detail
	}
	for _, f := range p.Fields {
		detail = strings.TrimLeft(f.Pointer, "/?") + " " + f.Message
	}
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((p.RetryAfter+time.Second-1)/time.Second)))
	}
	words := ""
	switch p.Code {
	case problem.AuthInvalidCredentials:
		words = "Invalid credentials."
	case problem.AuthRequired:
		words = "JWT Token not found"
	case problem.AuthInvalidToken:
		words = "Invalid JWT Token"
	case problem.MailboxExpired:
		words = "Expired JWT Token"
	case problem.RequestInvalid:
		status = http.StatusBadRequest
	case problem.MessageNotFound, problem.MessageRawExpired, problem.AttachmentNotFound, problem.AttachmentNotRetained, problem.RouteNotFound:
		status, detail = http.StatusNotFound, "Not Found"
	}
	if words != "" {
		_ = write(w, http.StatusUnauthorized, "application/json", refused{http.StatusUnauthorized, words})
		return
	}
	fail(w, r, status, detail)
}
