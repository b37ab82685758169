package httpkit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/gonebox/gonebox/internal/problem"
)

// Bounds of a request body's structure. The largest body that a schema allows, a developer key with all of its scopes
// and networks, has 130 tokens; the rest is for what the bank may add to its callback.
const (
	bodyTokensMax = 4096
	bodyDepthMax  = 16
)

// checkBody returns the faults of a request body, at most fieldsMax of them, in the body's order. It looks at one token
// at a time, keeps nothing but the names of the objects it is in, and stops at the last fault that is reported and at
// the bounds above, so its cost does not depend on what else is wrong with the body.
func checkBody(body []byte, s *shape) []problem.Field {
	if !json.Valid(body) {
		return []problem.Field{{Message: "the body is not a JSON document"}}
	}
	c := checker{dec: json.NewDecoder(bytes.NewReader(body))}
	c.dec.UseNumber()
	_ = c.value(s) // an error only ends the check early; the faults are in c
	return c.faults
}

// checker is the state of one checkBody.
type checker struct {
	dec    *json.Decoder
	path   []string // RFC 6901 reference tokens of the current value
	tokens int
	last   json.Token // the latest token: an element that is a scalar, for uniqueItems
	faults []problem.Field
}

// errEnough ends a check early.
var errEnough = errors.New("enough is known of the body")

// fault records a fault of the value at the current path.
func (c *checker) fault(message string) error {
	pointer := ""
	if len(c.path) > 0 {
		pointer = "/" + strings.Join(c.path, "/")
	}
	c.faults = append(c.faults, problem.Field{Pointer: pointer, Message: message})
	if len(c.faults) == fieldsMax {
		return errEnough
	}
	return nil
}

// next is the next token.
func (c *checker) next() (json.Token, error) {
	if c.tokens++; c.tokens > bodyTokensMax {
		c.path = nil
		return nil, errors.Join(c.fault(fmt.Sprintf("the body has more than %d names, values and brackets", bodyTokensMax)), errEnough)
	}
	var err error
	c.last, err = c.dec.Token()
	return c.last, err
}

// within checks a value one level down.
func (c *checker) within(name string, check func() error) error {
	c.path = append(c.path, name)
	if len(c.path) > bodyDepthMax {
		return errors.Join(c.fault(fmt.Sprintf("is nested more than %d deep", bodyDepthMax)), errEnough)
	}
	err := check()
	c.path = c.path[:max(len(c.path)-1, 0)]
	return err
}

// value checks the value that comes next.
func (c *checker) value(s *shape) error {
	t, err := c.next()
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('{'), json.Delim('['):
		return c.composite(s, t.(json.Delim))
	case nil:
		if s.kind != "" && !s.nullable {
			return c.fault(s.expected())
		}
		return nil
	}
	return c.scalar(s, t)
}

// composite checks an object or array whose opening bracket was read. If the schema demands another type, it records that fault and
// skips the content.
func (c *checker) composite(s *shape, open json.Delim) error {
	kind := huma.TypeArray
	if open == '{' {
		kind = huma.TypeObject
	}
	if s.kind != "" && s.kind != kind {
		if err := c.fault(s.expected()); err != nil {
			return err
		}
		s = anyShape()
	}
	if open == '{' {
		return c.object(s)
	}
	return c.array(s)
}

// object checks the members of an object and its closing brace.
func (c *checker) object(s *shape) error {
	seen := make(map[string]bool)
	for c.dec.More() {
		t, err := c.next()
		if err != nil {
			return err
		}
		name := t.(string)
		twice := seen[name]
		seen[name] = true
		if err := c.within(escapePointer(name), func() error { return c.member(s, name, twice) }); err != nil {
			return err
		}
	}
	for _, name := range s.required {
		if seen[name] {
			continue
		}
		if err := c.fault(fmt.Sprintf(validation.MsgExpectedRequiredProperty, name)); err != nil {
			return err
		}
	}
	_, err := c.next()
	return err
}

// member checks a member of an object.
func (c *checker) member(s *shape, name string, twice bool) error {
	field, known := s.fields[name]
	var err error
	switch {
	case twice:
		err = c.fault("occurs more than once")
	case !known && !s.open:
		err = c.fault(validation.MsgUnexpectedProperty)
	}
	if err != nil {
		return err
	}
	if !known {
		field = anyShape()
	}
	return c.value(field)
}

// array checks the elements of an array and its closing bracket. Elements beyond the allowed number are skipped.
func (c *checker) array(s *shape) error {
	items := s.items
	if items == nil {
		items = anyShape()
	}
	n, seen := 0, make(map[json.Token]bool)
	for ; c.dec.More(); n++ {
		if n == s.maxItems {
			if err := c.fault(fmt.Sprintf(validation.MsgExpectedMaxItems, s.maxItems)); err != nil {
				return err
			}
			items = anyShape()
		}
		if err := c.within(strconv.Itoa(n), func() error { return c.value(items) }); err != nil {
			return err
		}
		if s.unique && seen[c.last] {
			if err := c.fault(validation.MsgExpectedArrayItemsUnique); err != nil {
				return err
			}
		}
		seen[c.last] = s.unique
	}
	if n < s.minItems {
		if err := c.fault(fmt.Sprintf(validation.MsgExpectedMinItems, s.minItems)); err != nil {
			return err
		}
	}
	_, err := c.next()
	return err
}

// scalar checks a string, number or boolean.
func (c *checker) scalar(s *shape, t json.Token) error {
	var faults []string
	switch v := t.(type) {
	case string:
		faults = s.textFaults(v)
	case json.Number:
		faults = s.numberFaults(v)
	case bool:
		if s.kind != "" && s.kind != huma.TypeBoolean {
			faults = []string{s.expected()}
		}
	}
	for _, f := range faults {
		if err := c.fault(f); err != nil {
			return err
		}
	}
	return nil
}

// escapePointer writes a name as a reference token of RFC 6901.
func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
