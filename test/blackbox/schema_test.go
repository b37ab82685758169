package blackbox_test

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// schemas validates values against the part of JSON Schema that the document uses. An unsupported keyword is an error,
// so that nothing passes unchecked.
type schemas map[string]any // of #/components/schemas

// annotations are keywords that do not affect validity.
var annotations = []string{"description", "examples", "default", "title"}

// check returns the errors of a value, each with its location.
func (s schemas) check(schema map[string]any, value any, at string) (faults []string) {
	if ref, ok := schema["$ref"].(string); ok {
		target, ok := s[strings.TrimPrefix(ref, "#/components/schemas/")].(map[string]any)
		if !ok {
			return []string{at + ": " + ref + " leads nowhere"}
		}
		return s.check(target, value, at)
	}
	for _, keyword := range slices.Sorted(maps.Keys(schema)) {
		if slices.Contains(annotations, keyword) {
			continue
		}
		faults = append(faults, s.keyword(schema, keyword, value, at)...)
	}
	return faults
}

func (s schemas) keyword(schema map[string]any, keyword string, value any, at string) []string {
	rule := schema[keyword]
	switch keyword {
	case "type":
		return s.kind(rule, value, at)
	case "properties", "required", "additionalProperties":
		if o, ok := value.(map[string]any); ok {
			return s.object(schema, keyword, o, at)
		}
	case "items":
		return s.items(rule.(map[string]any), value, at)
	case "minItems", "maxItems", "uniqueItems":
		return list(keyword, rule, value, at)
	case "anyOf":
		for _, branch := range rule.([]any) {
			if len(s.check(branch.(map[string]any), value, at)) == 0 {
				return nil
			}
		}
		return []string{at + ": fits no branch of anyOf"}
	case "enum":
		if !slices.Contains(rule.([]any), value) {
			return []string{fmt.Sprintf("%s: %v is none of %v", at, value, rule)}
		}
	case "format", "pattern", "minLength", "maxLength", "minimum", "maximum":
		return scalar(keyword, rule, value, at)
	default:
		return []string{at + ": this test does not know the keyword " + keyword}
	}
	return nil
}

func (s schemas) kind(rule, value any, at string) []string {
	kinds, ok := rule.([]any)
	if !ok {
		kinds = []any{rule}
	}
	for _, k := range kinds {
		if is(value, k.(string)) {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s: %T is not of type %v", at, value, rule)}
}

func is(value any, kind string) bool {
	switch v := value.(type) {
	case nil:
		return kind == "null"
	case bool:
		return kind == "boolean"
	case string:
		return kind == "string"
	case float64:
		return kind == "number" || kind == "integer" && v == math.Trunc(v)
	case []any:
		return kind == "array"
	}
	return kind == "object"
}

func (s schemas) object(schema map[string]any, keyword string, o map[string]any, at string) (faults []string) {
	properties, _ := schema["properties"].(map[string]any)
	switch keyword {
	case "properties":
		for name, value := range o {
			if p, ok := properties[name].(map[string]any); ok {
				faults = append(faults, s.check(p, value, at+"/"+name)...)
			}
		}
	case "required":
		for _, name := range schema["required"].([]any) {
			if _, ok := o[name.(string)]; !ok {
				faults = append(faults, fmt.Sprintf("%s: %s is missing", at, name))
			}
		}
	case "additionalProperties":
		// Clients must accept unknown fields, but the service itself must not send a field that its document does not
		// declare.
		for name := range o {
			if _, ok := properties[name]; !ok {
				faults = append(faults, at+"/"+name+": is not in the document")
			}
		}
	}
	return faults
}

func (s schemas) items(rule map[string]any, value any, at string) (faults []string) {
	list, _ := value.([]any)
	for i, v := range list {
		faults = append(faults, s.check(rule, v, fmt.Sprintf("%s/%d", at, i))...)
	}
	return faults
}

// list checks the keywords about a whole array. Its items are texts.
func list(keyword string, rule, value any, at string) []string {
	all, ok := value.([]any)
	if !ok {
		return nil
	}
	holds := true
	switch keyword {
	case "minItems":
		holds = float64(len(all)) >= rule.(float64)
	case "maxItems":
		holds = float64(len(all)) <= rule.(float64)
	case "uniqueItems":
		for i, v := range all {
			holds = holds && !slices.Contains(all[:i], v)
		}
	}
	if holds {
		return nil
	}
	return []string{fmt.Sprintf("%s: %d items do not hold %s %v", at, len(all), keyword, rule)}
}

func scalar(keyword string, rule, value any, at string) []string {
	holds := true
	switch v := value.(type) {
	case string:
		switch keyword {
		case "format":
			holds = formatted(rule.(string), v)
		case "pattern":
			holds = pattern(rule.(string)).MatchString(v)
		case "minLength":
			holds = float64(utf8.RuneCountInString(v)) >= rule.(float64)
		case "maxLength":
			holds = float64(utf8.RuneCountInString(v)) <= rule.(float64)
		}
	case float64:
		switch keyword {
		case "minimum":
			holds = v >= rule.(float64)
		case "maximum":
			holds = v <= rule.(float64)
		}
	}
	if holds {
		return nil
	}
	return []string{fmt.Sprintf("%s: %v does not hold %s %v", at, value, keyword, rule)}
}

// patterns caches the compiled regular expressions of the document, by their text.
var patterns sync.Map

func pattern(text string) *regexp.Regexp {
	compiled, ok := patterns.Load(text)
	if !ok {
		compiled, _ = patterns.LoadOrStore(text, regexp.MustCompile(text))
	}
	return compiled.(*regexp.Regexp)
}

// milliseconds is the form of every timestamp (docs/spec/conventions.md#paths-and-bodies).
var milliseconds = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)

func formatted(format, text string) bool {
	switch format {
	case "date-time":
		_, err := time.Parse(time.RFC3339, text)
		return err == nil && milliseconds.MatchString(text)
	case "uri":
		u, err := url.Parse(text)
		return err == nil && u.IsAbs()
	case "email":
		return strings.Count(text, "@") == 1
	}
	return false
}
