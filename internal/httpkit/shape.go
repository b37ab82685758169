package httpkit

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/gonebox/gonebox/internal/clock"
)

// shape is the schema of a request body, compiled for checkBody. Its zero value allows every value.
type shape struct {
	kind     string // huma.TypeObject and so on; "": any
	nullable bool
	enum     []string // of a string; nil: any
	text     textShape
	min, max *float64 // of a number
	items    *shape
	minItems int
	maxItems int // -1: any number
	unique   bool
	fields   map[string]*shape
	required []string // sorted, so that missing fields are reported in a stable order
	open     bool     // other fields are allowed
}

// textShape is the part of a shape that applies to a string.
type textShape struct {
	minLength, maxLength int // in code points; maxLength -1: any length
	pattern              *regexp.Regexp
	dateTime             bool
}

// anyShape allows every value, for checkBody to pass over what it does not validate.
func anyShape() *shape { return &shape{open: true, maxItems: -1, text: textShape{maxLength: -1}} }

// compileShape compiles the schema of a request body. It panics on a keyword that checkBody does not check, so that no
// body type can promise in the document what the server does not enforce. Input types are not recursive.
func compileShape(r huma.Registry, s *huma.Schema) *shape {
	for s.Ref != "" {
		s = r.SchemaFromRef(s.Ref)
	}
	c := anyShape()
	switch s.Type {
	case "":
		return c
	case huma.TypeObject, huma.TypeArray, huma.TypeString, huma.TypeInteger, huma.TypeNumber, huma.TypeBoolean:
	default:
		panic(fmt.Errorf("a request body of type %s cannot be checked", s.Type))
	}
	if unchecked(s) {
		panic(fmt.Errorf("the schema %q has a keyword that is not checked", s.Title+s.Description))
	}
	c.kind, c.nullable, c.min, c.max = s.Type, s.Nullable, s.Minimum, s.Maximum
	for _, v := range s.Enum {
		c.enum = append(c.enum, v.(string))
	}
	c.text = textShape{minLength: orZero(s.MinLength), maxLength: orUnbounded(s.MaxLength), dateTime: s.Format == "date-time"}
	if s.Pattern != "" {
		c.text.pattern = regexp.MustCompile(s.Pattern)
	}
	if s.Items != nil {
		c.items = compileShape(r, s.Items)
		c.minItems, c.maxItems, c.unique = orZero(s.MinItems), orUnbounded(s.MaxItems), s.UniqueItems
	}
	if s.Type == huma.TypeObject {
		c.open = s.AdditionalProperties != false
		c.required = slices.Sorted(slices.Values(s.Required))
		c.fields = make(map[string]*shape, len(s.Properties))
		for name, field := range s.Properties {
			c.fields[name] = compileShape(r, field)
		}
	}
	return c
}

// unchecked reports whether a schema has a keyword that the compiled shape would ignore.
func unchecked(s *huma.Schema) bool {
	_, open := s.AdditionalProperties.(*huma.Schema)
	format := s.Format != "" && s.Format != "date-time" && s.Format != "int64" && s.Format != "double"
	composed := s.OneOf != nil || s.AnyOf != nil || s.AllOf != nil || s.Not != nil || s.Const != nil
	number := s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil || s.MultipleOf != nil
	object := s.MinProperties != nil || s.MaxProperties != nil || len(s.DependentRequired) > 0
	return open || format || composed || number || object || s.ContentEncoding != ""
}

func orZero(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

func orUnbounded(n *int) int {
	if n == nil {
		return -1
	}
	return *n
}

// expected returns the fault of a value whose type is not the shape's.
func (s *shape) expected() string {
	switch s.kind {
	case huma.TypeObject:
		return validation.MsgExpectedObject
	case huma.TypeArray:
		return validation.MsgExpectedArray
	case huma.TypeInteger:
		return validation.MsgExpectedInteger
	case huma.TypeNumber:
		return validation.MsgExpectedNumber
	case huma.TypeBoolean:
		return validation.MsgExpectedBoolean
	}
	return validation.MsgExpectedString
}

// textFaults returns the faults of a string.
func (s *shape) textFaults(v string) (faults []string) {
	if s.kind == "" {
		return nil
	}
	if s.kind != huma.TypeString {
		return []string{s.expected()}
	}
	length := utf8.RuneCountInString(v)
	if length < s.text.minLength {
		faults = append(faults, fmt.Sprintf(validation.MsgExpectedMinLength, s.text.minLength))
	}
	if s.text.maxLength >= 0 && length > s.text.maxLength {
		return append(faults, fmt.Sprintf(validation.MsgExpectedMaxLength, s.text.maxLength)) // and not what else is wrong with a long text
	}
	if s.text.pattern != nil && !s.text.pattern.MatchString(v) {
		faults = append(faults, fmt.Sprintf(validation.MsgExpectedMatchPattern, s.text.pattern))
	}
	if s.text.dateTime {
		if err := new(clock.Stamp).UnmarshalText([]byte(v)); err != nil {
			faults = append(faults, validation.MsgExpectedRFC3339DateTime+" in the years 1970 to 9999 UTC")
		}
	}
	if s.enum != nil && !slices.Contains(s.enum, v) {
		faults = append(faults, fmt.Sprintf(validation.MsgExpectedOneOf, strings.Join(s.enum, ", ")))
	}
	return faults
}

// numberFaults returns the faults of a number.
func (s *shape) numberFaults(v json.Number) (faults []string) {
	if s.kind == "" {
		return nil
	}
	if s.kind != huma.TypeInteger && s.kind != huma.TypeNumber {
		return []string{s.expected()}
	}
	n, err := v.Float64()
	if err != nil || s.kind == huma.TypeInteger && n != math.Trunc(n) {
		return []string{s.expected()}
	}
	if s.min != nil && n < *s.min {
		faults = append(faults, fmt.Sprintf(validation.MsgExpectedMinimumNumber, decimal(*s.min)))
	}
	if s.max != nil && n > *s.max {
		faults = append(faults, fmt.Sprintf(validation.MsgExpectedMaximumNumber, decimal(*s.max)))
	}
	if _, err := v.Int64(); s.kind == huma.TypeInteger && err != nil && len(faults) == 0 {
		faults = append(faults, "must be an integer of at most 64 bits, written without a point or an exponent") // unlike 1e2
	}
	return faults
}

// decimal writes a bound without an exponent.
func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
