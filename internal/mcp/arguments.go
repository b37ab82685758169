package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/gonebox/gonebox/internal/truncate"
)

// checker checks the arguments of a tool against their schema. It writes its own messages about single arguments, which
// are easier to act on than those of the schema library. It is safe for concurrent use.
type checker struct {
	schema     *jsonschema.Schema
	resolved   *jsonschema.Resolved            // the whole schema
	properties map[string]*jsonschema.Resolved // by the name of the argument
}

// newChecker returns the checker for a schema of arguments. It panics if a struct tag of the arguments is wrong, which
// every test would find.
func newChecker(schema *jsonschema.Schema) *checker {
	c := &checker{schema: schema, properties: make(map[string]*jsonschema.Resolved)}
	var err error
	if c.resolved, err = schema.Resolve(nil); err != nil {
		panic(err)
	}
	for name, p := range schema.Properties {
		if c.properties[name], err = p.Resolve(nil); err != nil {
			panic(err)
		}
	}
	return c
}

// lenient returns arguments as the tools take them, from what coding agents send: no arguments may be null, an argument
// that is null is left out, a whole number may be a text or have a fraction (5.0), and a text is a list of one where a list
// is meant. It leaves everything else to check.
func (c *checker) lenient(arguments json.RawMessage) json.RawMessage {
	if len(arguments) == 0 || string(arguments) == "null" {
		return json.RawMessage("{}")
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(arguments, &object) != nil {
		return arguments
	}
	for name, value := range object {
		p := c.schema.Properties[name]
		switch {
		case string(value) == "null":
			delete(object, name)
		case p == nil:
		case p.Type == "integer":
			if n, ok := wholeNumber(value); ok {
				object[name] = n
			}
		case p.Type == "array" && value[0] == '"':
			object[name] = json.RawMessage("[" + string(value) + "]")
		}
	}
	text, _ := json.Marshal(object) // it was decoded from JSON
	return text
}

// wholeNumber returns the digits of a JSON number, or of a string that has one, whose value is whole. It returns false for
// other values, and for those that no argument can have.
func wholeNumber(value json.RawMessage) (json.RawMessage, bool) {
	text := string(value)
	if value[0] == '"' {
		if json.Unmarshal(value, &text) != nil {
			return nil, false
		}
		text = strings.TrimSpace(text)
	}
	const maxLength = 64 // of the text, so that the exponent of a number below 2^53 is small
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f == 0 || math.Abs(f) > 1<<53 || len(text) > maxLength || !json.Valid([]byte(text)) {
		return nil, false
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok || !n.IsInt() {
		return nil, false
	}
	return json.RawMessage(n.Num().String()), true
}

// check returns a sentence about the first invalid argument in the order of their names: the name, the value and the
// allowed values. A missing argument is reported only if no other one is invalid. check returns "" if the arguments are
// valid.
func (c *checker) check(arguments json.RawMessage) string {
	var generic any
	if json.Unmarshal(arguments, &generic) != nil {
		return "they are not a JSON object."
	}
	err := c.resolved.Validate(generic)
	if err == nil {
		return ""
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(arguments, &object) != nil {
		return "they are not a JSON object."
	}
	values, _ := generic.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		p, known := c.properties[name]
		if !known {
			return fmt.Sprintf("there is no argument %s. This tool takes %s.", shorten(name), c.names())
		}
		if p.Validate(values[name]) != nil {
			return fmt.Sprintf("%s is %s, but must be %s.", name, shorten(string(object[name])), allowed(c.schema.Properties[name]))
		}
	}
	for _, name := range c.schema.Required {
		if _, given := object[name]; !given {
			return name + " is required."
		}
	}
	return err.Error()
}

// names returns the names of all arguments, for a message.
func (c *checker) names() string {
	if len(c.schema.Properties) == 0 {
		return "no arguments"
	}
	return strings.Join(slices.Sorted(maps.Keys(c.schema.Properties)), ", ")
}

// shorten returns the beginning of a name or value that a client sent, for a message that quotes it. The model wrote the
// value, and not the sender of a mail, so quoting it is safe.
func shorten(text string) string {
	const maxRunes = 40
	if short := truncate.Runes(text, maxRunes); len(short) < len(text) {
		return short + "…"
	}
	return text
}

// allowed describes the values that the schema of an argument allows, for a message.
func allowed(p *jsonschema.Schema) string {
	switch {
	case p.Items != nil:
		var names []string
		for _, value := range p.Items.Enum {
			names = append(names, fmt.Sprint(value))
		}
		return "a list of " + strings.Join(names, ", ")
	case p.Type == "integer" && p.Minimum != nil && p.Maximum != nil:
		return fmt.Sprintf("a whole number from %.0f to %.0f", *p.Minimum, *p.Maximum)
	case p.Type == "integer" && p.Minimum != nil:
		return fmt.Sprintf("a whole number of at least %.0f", *p.Minimum)
	case p.Pattern != "" && p.MaxLength != nil:
		return fmt.Sprintf("text of 1 to %d characters that matches %s", *p.MaxLength, p.Pattern)
	case p.MaxLength != nil:
		return fmt.Sprintf("text of at most %d characters", *p.MaxLength)
	}
	return "text"
}
