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

// newLoader starts from the defaults of the tags and of the plan catalogue, and the plans that the file adds.
func newLoader(root *yaml.Node) *loader {
	catalogue := plan.Default()
	c := &Config{Plans: append([]plan.Plan{catalogue.Guest()}, catalogue.All()...)}
	for _, code := range addedPlans(root, c.Plans) {
		added := catalogue.Free()
		added.Code, added.Name = code, code
		c.Plans = append(c.Plans, added)
	}
	l := &loader{config: c, table: newTable(c)}
	for _, s := range l.table.settings {
		l.set(s, s.def, "")
	}
	return l
}

// addedPlans lists the codes below the file's key plans that are not among known.
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

// pairs yields the keys and values of a mapping, and nothing of any other node.
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

// parseYAML reads one document into nodes; a file that holds none gives nil.
func parseYAML(name string, data []byte) (*yaml.Node, error) {
	var documents []yaml.Node
	if err := yaml.Load(data, &documents, yaml.WithAllDocuments()); err != nil {
		return nil, syntaxError(name, err)
	}
	switch len(documents) {
	case 0:
		return nil, nil
	case 1:
		return documents[0].Content[0], nil
	}
	return nil, &Error{Origin: name, Reason: "holds more than one YAML document; keep one"}
}

func syntaxError(name string, err error) error {
	e := &Error{Origin: name, Reason: "is not YAML: " + strings.Join(strings.Fields(err.Error()), " ")}
	if at, ok := errors.AsType[*yaml.LoadError](err); ok {
		e.Origin = fmt.Sprintf("%s:%d", name, at.Mark.Line)
		e.Reason = "is not YAML: " + strings.Join(strings.Fields(at.Message), " ")
	}
	return e
}

// file applies the parsed file.
func (l *loader) file(name string, root *yaml.Node) {
	if root == nil {
		return
	}
	f := fileReader{loader: l, name: name, seen: map[string]int{}}
	f.section("", root)
}

// fileReader walks the nodes of one file along the table.
type fileReader struct {
	*loader
	name string
	seen map[string]int // key to the line it was first given on
}

func (f *fileReader) origin(n *yaml.Node) string { return f.name + ":" + strconv.Itoa(n.Line) }

// section applies a mapping below key. An empty one, whose keys are all commented out, is fine.
func (f *fileReader) section(key string, n *yaml.Node) {
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

func (f *fileReader) entry(section string, k, v *yaml.Node) {
	if k.Kind != yaml.ScalarNode || strings.Contains(k.Value, ".") || k.Tag == "!!merge" {
		f.fail(&Error{Key: section, Origin: f.origin(k), Reason: "has a key that is not a plain name; nest sections instead of joining them with dots"})
		return
	}
	key := strings.TrimPrefix(section+"."+k.Value, ".")
	if first, again := f.seen[key]; again {
		f.fail(&Error{Key: key, Origin: f.origin(k), Reason: fmt.Sprintf("is given twice; first on line %d", first)})
		return
	}
	f.seen[key] = k.Line
	if s, ok := f.table.byKey[key]; ok {
		f.leaf(s, v)
	} else if _, ok := f.table.sections[key]; ok {
		f.section(key, v)
	} else if section == "plans" {
		f.fail(&Error{Key: section, Value: shown(k.Value), Origin: f.origin(k), Reason: "is not a plan code; use up to 32 lower-case letters and digits"})
	} else {
		f.unknown(key, f.origin(k), "key", f.names())
	}
}

// names are all keys and sections.
func (f *fileReader) names() []string {
	return slices.AppendSeq(slices.Collect(maps.Keys(f.table.byKey)), maps.Keys(f.table.sections))
}

func (f *fileReader) leaf(s *setting, n *yaml.Node) {
	items, err := leafItems(s, n)
	if err == nil && s.list() {
		err = s.setList(items)
	} else if err == nil {
		err = s.setText(items[0])
	}
	if err != nil {
		f.reject(s, leafText(n), f.origin(n), err)
		return
	}
	s.origin = f.origin(n)
}

// leafText is what an error shows of a value.
func leafText(n *yaml.Node) string {
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

// leafItems gives the texts of a value: one for a scalar, those of its elements for a list.
func leafItems(s *setting, n *yaml.Node) ([]string, error) {
	if !s.list() {
		text, err := nodeText(s.value.Type(), n)
		return []string{text}, err
	}
	if n.Kind != yaml.SequenceNode {
		return nil, errors.New("must be a list, as in [a, b]")
	}
	items := make([]string, len(n.Content))
	for i, element := range n.Content {
		text, err := nodeText(s.value.Type().Elem(), element)
		if err != nil {
			return nil, fmt.Errorf("element %d: %s %w", i+1, shown(leafText(element)), err)
		}
		items[i] = text
	}
	return items, nil
}

// nodeText is the text of a scalar whose YAML type fits t. Digits without quotes may stand for text, since account
// numbers look like that.
func nodeText(t reflect.Type, n *yaml.Node) (string, error) {
	switch {
	case n.Kind == yaml.AliasNode:
		return "", errors.New("is an alias; write the value itself")
	case n.Kind != yaml.ScalarNode:
		return "", errors.New("must be a single value")
	case n.Tag == "!!null":
		return "", errors.New(`has no value; write one ("" for none), or leave the key out`)
	case t.Kind() == reflect.Bool && n.Tag != "!!bool":
		return "", errors.New("must be true or false, without quotes")
	case t == reflect.TypeFor[int]() || t == reflect.TypeFor[int64]():
		if n.Tag != "!!int" {
			return "", errors.New("must be a whole number, without quotes")
		}
	case t.Kind() != reflect.Bool && n.Tag != "!!str" && strings.Trim(n.Value, "0123456789") != "":
		return "", errors.New("must be text; put it in quotes")
	}
	return n.Value, nil
}
