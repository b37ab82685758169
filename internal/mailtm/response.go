package mailtm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/problem"
)

// jsonLD has the members that a resource has in JSON-LD but not in plain JSON, where they are empty and left out.
type jsonLD struct {
	Context string `json:"@context,omitempty"`
	IRI     string `json:"@id,omitempty"`
	Type    string `json:"@type,omitempty"`
}

// wantsJSON reports whether the client asks for plain JSON instead of JSON-LD. JSON-LD is the default, as in mail.tm: a
// request without an Accept field, or with one that accepts anything, gets JSON-LD.
func wantsJSON(r *http.Request) bool {
	accept := strings.ToLower(strings.Join(r.Header.Values("Accept"), ","))
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "ld+json")
}

// newJSONLD returns the JSON-LD members of a resource of the type typ, or none if the client asks for plain JSON. A
// resource that is nested in another one is not topLevel and has no @context.
func newJSONLD(r *http.Request, typ, iri string, topLevel bool) jsonLD {
	if wantsJSON(r) {
		return jsonLD{}
	}
	ld := jsonLD{IRI: iri, Type: typ}
	if topLevel {
		ld.Context = "/contexts/" + typ
	}
	return ld
}

// respond writes a resource as JSON-LD or plain JSON, whichever the client asks for. An error means that nothing has been
// written.
func respond(w http.ResponseWriter, r *http.Request, status int, v any) error {
	return writeJSON(w, status, mediaType(r), v)
}

// mediaType returns the media type of a resource: that of JSON-LD or of plain JSON, whichever the client asks for.
func mediaType(r *http.Request) string {
	if wantsJSON(r) {
		return "application/json; charset=utf-8"
	}
	return "application/ld+json; charset=utf-8"
}

// writeJSON writes a value as JSON with the media type media. An error means that nothing has been written.
func writeJSON(w http.ResponseWriter, status int, media string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", media)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(text) // fails only if the client has disconnected
	return nil
}

// pageLen is the number of resources on a page. It is the same as in mail.tm, since clients depend on it.
const pageLen = 30

// parsePage returns the number of the requested page, counted from 1. The upper bound keeps the offset of the page within
// the range of an int. Error: request.invalid.
func parsePage(r *http.Request) (int, error) {
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

// collection is a page of a list in JSON-LD.
type collection[T any] struct {
	jsonLD
	Total   int   `json:"hydra:totalItems"`
	Members []T   `json:"hydra:member"`
	View    *view `json:"hydra:view,omitempty"`
}

// view has the links to the other pages of a list.
type view struct {
	IRI      string `json:"@id"`
	Type     string `json:"@type"`
	First    string `json:"hydra:first"`
	Last     string `json:"hydra:last"`
	Previous string `json:"hydra:previous,omitempty"`
	Next     string `json:"hydra:next,omitempty"`
}

// respondList writes one page of a list that has total resources of the type typ. path is the path of the list, from which
// the links to its other pages are made. Plain JSON has only the members of the page, without the total and the links.
func respondList[T any](w http.ResponseWriter, r *http.Request, typ, path string, page, total int, members []T) error {
	if members == nil {
		members = []T{}
	}
	if wantsJSON(r) {
		return respond(w, r, http.StatusOK, members)
	}
	c := collection[T]{jsonLD: jsonLD{"/contexts/" + typ, path, "hydra:Collection"}, Total: total, Members: members}
	if last := (total + pageLen - 1) / pageLen; last > 1 {
		pageURL := func(n int) string { return fmt.Sprintf("%s?page=%d", path, n) }
		c.View = &view{IRI: pageURL(page), Type: "hydra:PartialCollectionView", First: pageURL(1), Last: pageURL(last)}
		if page > 1 {
			c.View.Previous = pageURL(min(page-1, last))
		}
		if page < last {
			c.View.Next = pageURL(page + 1)
		}
	}
	return respond(w, r, http.StatusOK, c)
}

// decodeBody decodes the JSON body of a request into v, which takes little memory. Errors: request.invalid,
// request.too_large, server.unavailable.
func (a *API) decodeBody(r *http.Request, v any) error {
	const tokensMax = 1 << 10 // names, values and brackets
	lease, err := a.kit.ReadJSON(r.Context(), r, v, httpkit.JSONBounds{Octets: a.HTTP.BodyMax, Tokens: tokensMax})
	lease.Release()
	return err
}

// errorBody is the body of an error response in the format of mail.tm.
type errorBody struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
}

// writeError responds with an error. Clients that ask for plain JSON decode the body only if its media type is
// application/json, not application/problem+json.
func writeError(w http.ResponseWriter, r *http.Request, status int, detail string) {
	media := "application/problem+json; charset=utf-8"
	if wantsJSON(r) {
		media = "application/json; charset=utf-8"
	}
	_ = writeJSON(w, status, media, errorBody{"https://tools.ietf.org/html/rfc2616#section-10", "An error occurred", detail})
}

// unauthorizedBody is the body of a response with the status 401.
type unauthorizedBody struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// violationList is the body of the response with the status 422 to a request with an invalid member.
type violationList struct {
	jsonLD
	HydraTitle  string      `json:"hydra:title"`
	Description string      `json:"hydra:description"`
	Type        string      `json:"type"`
	Title       string      `json:"title"`
	Detail      string      `json:"detail"`
	Violations  []violation `json:"violations"`
}

// violation says which member of the request body is invalid, and why. Code identifies the rule that it violates.
type violation struct {
	Path    string `json:"propertyPath"`
	Message string `json:"message"`
	Code    string `json:"code"`
}

// validationError is the error of an invalid member of a request body. Its fields are those of violation.
type validationError struct{ property, message, code string }

func (e validationError) Error() string { return e.property + ": " + e.message }

// respond writes the response with the status 422 in the format of mail.tm.
func (e validationError) respond(w http.ResponseWriter, r *http.Request) {
	const title = "An error occurred"
	_ = respond(w, r, http.StatusUnprocessableEntity, violationList{
		jsonLD: jsonLD{Context: "/contexts/ConstraintViolationList", Type: "ConstraintViolationList"}, HydraTitle: title, Description: e.Error(),
		Type: "/validation_errors/" + url.PathEscape(e.code), Title: title, Detail: e.Error(), Violations: []violation{{e.property, e.message, e.code}},
	})
}

// respondError responds with the error that a handler returned, in the format of mail.tm.
//
// Clients recognize the messages of mail.tm about invalid credentials, so these are sent word for word. For every other
// problem the detail is the one that package httpapi sends too. An error that is not a problem is logged by ProblemOf and
// becomes a response with the status 500.
func (a *API) respondError(w http.ResponseWriter, r *http.Request, err error) {
	if e, ok := err.(validationError); ok { // handlers return it unwrapped
		e.respond(w, r)
		return
	}
	p := a.kit.ProblemOf(r.Context(), err)
	status, detail := p.Status(), p.Reason()
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", httpkit.RetryAfter(p.RetryAfter))
	}
	authMessage := ""
	switch p.Code {
	case problem.AuthInvalidCredentials:
		authMessage = "Invalid credentials."
	case problem.AuthRequired:
		authMessage = "JWT Token not found"
	case problem.AuthInvalidToken:
		authMessage = "Invalid JWT Token"
	case problem.MailboxExpired:
		authMessage = "Expired JWT Token"
	case problem.RequestInvalid:
		status = http.StatusBadRequest
	case problem.MessageNotFound, problem.MessageRawExpired, problem.AttachmentNotFound, problem.AttachmentNotRetained, problem.RouteNotFound:
		status, detail = http.StatusNotFound, "Not Found"
	}
	if authMessage != "" {
		_ = writeJSON(w, http.StatusUnauthorized, "application/json", unauthorizedBody{http.StatusUnauthorized, authMessage})
		return
	}
	writeError(w, r, status, detail)
}
