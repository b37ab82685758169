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

// file applies a parsed file; root may be nil.
func (l *loader) file(name string, root *yaml.Node) {
	if root != nil {
		f := file{loader: l, name: name, lines: map[string]int{}}
		f.section("", root)
	}
}

// file is a file being applied.
type file struct {
	*loader
	name  string
	lines map[string]int // key to the line that it was first given on
}

func (f *file) origin(n *yaml.Node) string { return f.name + ":" + strconv.Itoa(n.Line) }

// section applies the mapping of the section key. One whose keys are all commented out is null.
func (f *file) section(key string, n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		f.fail(&Error{Key: key, Origin: f.origin(n), Reason: "is a section: give it keys of its own, as in key: value"})
		return
	}
	for k, v := range pairs(n) {
		f.entry(key, k, v)
	}
}

// entry applies one key of a section and its value.
func (f *file) entry(section string, k, v *yaml.Node) {
	if k.Kind != yaml.ScalarNode || strings.Contains(k.Value, ".") || k.Tag == "!!merge" {
		f.fail(&Error{Key: section, Origin: f.origin(k), Reason: "has a key that is not a plain name; nest sections instead of joining them with dots"})
		return
	}
	key := strings.TrimPrefix(section+"."+k.Value, ".")
	if first, again := f.lines[key]; again {
		f.fail(&Error{Key: key, Origin: f.origin(k), Reason: fmt.Sprintf("is given twice; first on line %d", first)})
		return
	}
	f.lines[key] = k.Line
	if s, ok := f.byKey[key]; ok {
		f.value(s, v)
	} else if _, ok := f.sections[key]; ok {
		f.section(key, v)
	} else if section == "plans" {
		f.fail(&Error{Key: section, Value: quote(k.Value), Origin: f.origin(k), Reason: "is not a plan code; use up to 32 lower-case letters and digits"})
	} else {
		names := slices.AppendSeq(slices.Collect(maps.Keys(f.byKey)), maps.Keys(f.sections))
		f.fail(unknown(key, f.origin(k), "key", names))
	}
}

// value sets s to a scalar or a list.
func (f *file) value(s *setting, n *yaml.Node) {
	elements := []*yaml.Node{n}
	if s.list() {
		if n.Kind != yaml.SequenceNode {
			f.reject(s, written(n), f.origin(n), "must be a list, as in [a, b]")
			return
		}
		elements = n.Content
	}
	items := make([]string, len(elements))
	for i, element := range elements {
		if reason := misfit(s.scalar(), element); reason != "" {
			if s.list() {
				reason = fmt.Sprintf("element %d: %s %s", i+1, quote(written(element)), reason)
			}
			f.reject(s, written(n), f.origin(n), reason)
			return
		}
		items[i] = element.Value
	}
	f.apply(s, items, written(n), f.origin(n))
}

// written returns what an error shows of a value.
func written(n *yaml.Node) string {
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

// misfit returns why a node cannot be a scalar of type t, or "". Digits without quotes are accepted as text, since
// account numbers are written like that.
func misfit(t reflect.Type, n *yaml.Node) string {
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
