package ingress

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"

	"github.com/gonebox/gonebox/internal/problem"
)

const (
	fieldMax = 64 << 10 // octets of a field other than the message
	partsMax = 1000     // parts or fields of a form
)

// form reads a form and returns the fields of the given names, and of those the one that is the message. Fields of other names are passed
// over. Errors: request.invalid; server.unavailable where the form breaks off.
func form(h http.Header, body []byte, message string, names ...string) (fields map[string]string, data []byte, err error) {
	media, parameters, err := mime.ParseMediaType(h.Get("Content-Type"))
	switch {
	case err != nil:
	case media == "multipart/form-data" && parameters["boundary"] != "":
		return multipartForm(body, parameters["boundary"], message, names)
	case media == "application/x-www-form-urlencoded":
		return encodedForm(body, message, names)
	}
	return nil, nil, problem.Detailf(problem.RequestInvalid, "the request is not a form")
}

// take adds a field, unless its name occurs twice.
func take(fields map[string]string, name, value string) error {
	if _, again := fields[name]; again {
		return problem.Detailf(problem.RequestInvalid, "the field %s is given twice", name)
	}
	fields[name] = value
	return nil
}

// wanted returns the names of the fields as a set.
func wanted(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// multipartForm reads a form of RFC 7578.
func multipartForm(body []byte, boundary, message string, names []string) (map[string]string, []byte, error) {
	fields, want, data := map[string]string{}, wanted(names), []byte(nil)
	parts := multipart.NewReader(bytes.NewReader(body), boundary)
	for range partsMax {
		part, err := parts.NextRawPart()
		if err == io.EOF { //nolint:errorlint // an error of a form without an end wraps it
			return fields, data, nil
		}
		if err != nil {
			return nil, nil, unread("the form breaks off or cannot be read")
		}
		name := part.FormName()
		switch {
		case name == message && data == nil:
			whole := bytes.NewBuffer(make([]byte, 0, len(body)))
			_, err = whole.ReadFrom(part)
			data = whole.Bytes()
		case name == message:
			err = take(map[string]string{message: ""}, message, "")
		case want[name]:
			var value []byte
			if value, err = io.ReadAll(io.LimitReader(part, fieldMax+1)); err == nil && len(value) > fieldMax {
				err = errTooLong
			}
			if err == nil {
				err = take(fields, name, string(value))
			}
		}
		if err != nil {
			return nil, nil, invalidForm(err)
		}
	}
	return nil, nil, invalidForm(errTooMany)
}

var (
	errTooLong = errors.New("a field is too long")
	errTooMany = errors.New("the form has too many parts")
)

// invalidForm returns request.invalid for an error of a form.
func invalidForm(err error) error {
	if problem.Has(err, problem.RequestInvalid) {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return unread("the form breaks off")
	}
	return problem.Detailf(problem.RequestInvalid, "the form cannot be read: %v", err)
}

// encodedForm reads a form of the URL standard's application/x-www-form-urlencoded.
func encodedForm(body []byte, message string, names []string) (map[string]string, []byte, error) {
	fields, want := map[string]string{}, wanted(append(names, message))
	n := 0
	for pair := range strings.SplitSeq(string(body), "&") {
		if n++; n > partsMax {
			return nil, nil, invalidForm(errTooMany)
		}
		key, value, _ := strings.Cut(pair, "=")
		if len(key) > fieldMax {
			return nil, nil, invalidForm(errTooLong)
		}
		name, err := url.QueryUnescape(key)
		if err != nil || !want[name] {
			continue
		}
		if value, err = url.QueryUnescape(value); err != nil {
			return nil, nil, invalidForm(err)
		}
		if name != message && len(value) > fieldMax {
			return nil, nil, invalidForm(errTooLong)
		}
		if err := take(fields, name, value); err != nil {
			return nil, nil, err
		}
	}
	data := []byte(fields[message])
	delete(fields, message)
	return fields, data, nil
}
