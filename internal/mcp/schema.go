package mcp

import (
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// The bounds and defaults of arguments. Lengths are in characters, times in seconds.
const (
	// The longest wait is below a minute. A client that wants to wait longer calls again.
	secondsMin, secondsMax         = 1, 55
	secondsDefault                 = 30
	maxCharsMin, maxCharsMax       = 1, 100_000
	maxCharsDefault                = 8_000
	ttlMin                         = 60
	textArgumentMax, identifierMax = 255, 64
	searchMax                      = 1000
)

// schemaOf returns the schema of the arguments or the result T. With keepTokens it has no property token, and the mailbox
// of a call, for which a token would do, is required.
func schemaOf[T any](keepTokens bool) *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(err) // a type or a struct tag is wrong, which every test would find
	}
	addConstraints(s)
	if keepTokens {
		removeToken(s)
	}
	return s
}

// addConstraints adds the bounds of arguments by their names, which mean the same in every tool. The library generates
// types and descriptions from the structs, but has no struct tag for bounds.
func addConstraints(s *jsonschema.Schema) {
	for name, p := range s.Properties {
		switch name {
		case "seconds":
			setRange(p, secondsMin, secondsMax, secondsDefault)
		case "maxChars":
			setRange(p, maxCharsMin, maxCharsMax, maxCharsDefault)
		case "ttlSeconds":
			p.Minimum = new(float64(ttlMin))
		case "has":
			p.Items = &jsonschema.Schema{Type: "string", Enum: []any{"code", "link", "action", "attachment"}}
			p.MaxItems = new(4)
		case "from", "to", "subject":
			p.MaxLength = new(textArgumentMax)
		case "q":
			p.MaxLength = new(searchMax)
		case "after", "messageId", "attachmentId":
			p.MaxLength = new(identifierMax)
		case "code":
			if p.Type == "string" && slices.Contains(s.PropertyOrder, "subject") {
				p.MinLength, p.MaxLength, p.Pattern = new(1), new(32), "^[A-Za-z0-9-]+$"
			}
		}
		if slices.Equal(p.Types, []string{"null", "array"}) { // a slice, which is never null here
			p.Type, p.Types = "array", nil
		}
		if p.Items != nil {
			addConstraints(p.Items)
		}
	}
}

// setRange sets the minimum and the maximum, and adds the default to the description. It sets no default in the schema,
// since the tools apply it.
func setRange(p *jsonschema.Schema, minimum, maximum float64, defaultValue int) {
	p.Minimum, p.Maximum = &minimum, &maximum
	p.Description += " Default " + itoa(defaultValue) + "."
}

// removeToken removes the property token, also from the elements of lists. A mailbox beside it becomes required.
func removeToken(s *jsonschema.Schema) {
	if s.Properties["mailbox"] != nil && s.Properties["token"] != nil && !slices.Contains(s.Required, "mailbox") {
		s.Required = append(s.Required, "mailbox")
	}
	delete(s.Properties, "token")
	s.PropertyOrder = slices.DeleteFunc(s.PropertyOrder, func(name string) bool { return name == "token" })
	for _, p := range s.Properties {
		if p.Items != nil {
			removeToken(p.Items)
		}
	}
}
