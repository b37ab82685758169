package config

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/gonebox/gonebox/internal/plan"
)

// parseYAML parses the one document of a file. It returns nil for a file without one.
func parseYAML(name string, data []byte) (*yaml.Node, error) {
	var documents []yaml.Node
	if err := yaml.Load(data, &documents, yaml.WithAllDocuments()); err != nil {
		origin, message := name, err.Error()
		if at, ok := errors.AsType[*yaml.LoadError](err); ok {
			origin, message = name+":"+strconv.Itoa(at.Mark.Line), at.Message
		}
		return nil, &Error{Origin: origin, Reason: "is not YAML: " + strings.Join(strings.Fields(message), " ")}
	}
	switch len(documents) {
	case 0:
		return nil, nil
	case 1:
		return documents[0].Content[0], nil
	}
	return nil, &Error{Origin: name, Reason: "holds more than one YAML document; keep one"}
}

// pairs yields the keys and values of a mapping, and nothing for any other node.
func pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(k, v *yaml.Node) bool) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// addedPlans returns the plan codes in the file that are not among known.
func addedPlans(root *yaml.Node, known []plan.Plan) (codes []string) {
	for section, plans := range pairs(root) {
		if section.Value != "plans" {
			continue
		}
		for code := range pairs(plans) {
			isKnown := slices.ContainsFunc(known, func(p plan.Plan) bool { return p.Code == code.Value })
			if !isKnown && !slices.Contains(codes, code.Value) && planCode.MatchString(code.Value) {
				codes = append(codes, code.Value)
			}
		}
	}
	return codes
}

// applyFile applies a parsed file; root may be nil.
func (l *loader) applyFile(name string, root *yaml.Node) {
	if root != nil {
		f := file{loader: l, name: name, lines: map[string]int{}}
		f.applySection("", root)
	}
}

// file is the configuration file while it is applied.
type file struct {
	*loader
	name  string
	lines map[string]int // the line of the first occurrence of each key
}

func (f *file) origin(n *yaml.Node) string { return f.name + ":" + strconv.Itoa(n.Line) }

// applySection applies the mapping of the section key. A section without a value, such as one whose keys are all
// commented out, is null in YAML and changes nothing.
func (f *file) applySection(key string, n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		f.addError(&Error{Key: key, Origin: f.origin(n), Reason: "is a section: give it keys of its own, as in key: value"})
		return
	}
	for k, v := range pairs(n) {
		f.applyEntry(key, k, v)
	}
}

// applyEntry applies one key of a section and its value.
func (f *file) applyEntry(section string, k, v *yaml.Node) {
	if k.Kind != yaml.ScalarNode || strings.Contains(k.Value, ".") || k.Tag == "!!merge" {
		f.addError(&Error{Key: section, Origin: f.origin(k), Reason: "has a key that is not a plain name; nest sections instead of joining them with dots"})
		return
	}
	key := strings.TrimPrefix(section+"."+k.Value, ".")
	if first, again := f.lines[key]; again {
		f.addError(&Error{Key: key, Origin: f.origin(k), Reason: fmt.Sprintf("is given twice; first on line %d", first)})
		return
	}
	f.lines[key] = k.Line
	if s, ok := f.byKey[key]; ok {
		f.applyValue(s, v)
	} else if _, ok := f.sections[key]; ok {
		f.applySection(key, v)
	} else if section == "plans" {
		f.addError(&Error{Key: section, Value: quote(k.Value), Origin: f.origin(k), Reason: "is not a plan code; use up to 32 lower-case letters and digits"})
	} else if section == "ingress" {
		f.addError(&Error{Key: section, Value: quote(k.Value), Origin: f.origin(k), Reason: "is not the name of an ingress; use up to 32 lower-case letters, digits and hyphens, beginning with a letter"})
	} else {
		names := slices.AppendSeq(slices.Collect(maps.Keys(f.byKey)), maps.Keys(f.sections))
		f.addError(unknownKey(key, f.origin(k), names))
	}
}

// applyValue sets s to a scalar or a list.
func (f *file) applyValue(s *setting, n *yaml.Node) {
	elements := []*yaml.Node{n}
	if s.isList() {
		if n.Kind != yaml.SequenceNode {
			f.reject(s, valueText(n), f.origin(n), "must be a list, as in [a, b]")
			return
		}
		elements = n.Content
	}
	items := make([]string, len(elements))
	for i, element := range elements {
		if reason := scalarMismatch(s.scalarType(), element); reason != "" {
			if s.isList() {
				reason = fmt.Sprintf("element %d: %s %s", i+1, quote(valueText(element)), reason)
			}
			f.reject(s, valueText(n), f.origin(n), reason)
			return
		}
		items[i] = element.Value
	}
	f.apply(s, items, valueText(n), f.origin(n))
}

// valueText returns the text with which an error shows a value.
func valueText(n *yaml.Node) string {
	switch n.Kind {
	case yaml.ScalarNode:
		return n.Value
	case yaml.SequenceNode:
		return "[…]"
	case yaml.MappingNode:
		return "{…}"
	}
	return "*" + n.Value
}

// scalarMismatch returns the reason why a node cannot be a scalar of type t, "" if it can. Digits without quotes are
// accepted as text, since account numbers are written like that.
func scalarMismatch(t reflect.Type, n *yaml.Node) string {
	isInt := t == reflect.TypeFor[int]() || t == reflect.TypeFor[int64]()
	switch {
	case n.Kind == yaml.AliasNode:
		return "is an alias; write the value itself"
	case n.Kind != yaml.ScalarNode:
		return "must be a single value"
	case n.Tag == "!!null":
		return `has no value; write one ("" for none), or leave the key out`
	case t.Kind() == reflect.Bool && n.Tag != "!!bool":
		return "must be true or false, without quotes"
	case isInt && n.Tag != "!!int":
		return "must be a whole number, without quotes"
	case !isInt && t.Kind() != reflect.Bool && n.Tag != "!!str" && strings.Trim(n.Value, "0123456789") != "":
		return "must be text; put it in quotes"
	}
	return ""
}
