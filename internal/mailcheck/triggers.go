package mailcheck

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed triggers.txt
var triggerTable string

// trigger is a feature that something in a mail shows.
type trigger struct {
	feature int
	weighs  bool // it counts in the score
	once    bool // however many elements have it
}

// triggers says what shows which features. The kinds are those of triggers.txt, and the keys are in lower case.
type triggers struct {
	elements, types, attributes, prefixes, images map[string][]trigger
	properties, values, functions, keywords       map[string][]trigger
	units, atRules, media, pseudos                map[string][]trigger

	body, nesting, comments, variables       trigger
	class, id, element, universal, attribute trigger // kinds of selectors
	descendant, childOf, adjacent, sibling   trigger
	grouping, chaining                       trigger
}

// newTriggers reads the table for features with these indexes by name.
func newTriggers(index map[string]int) (*triggers, error) {
	t := &triggers{}
	for _, kind := range t.kinds() {
		*kind.keys = make(map[string][]trigger)
	}
	for line := range strings.Lines(triggerTable) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		if err := t.line(fields[0], line[strings.Index(line, fields[0])+len(fields[0]):], index); err != nil {
			return nil, err
		}
	}
	for name, single := range t.singles() {
		feature, known := index[name]
		if !known {
			return nil, fmt.Errorf("the data has no %s", name)
		}
		single.feature = feature
	}
	t.body.weighs = true
	t.variables.weighs = true
	return t, nil
}

// singles are the features that are not found by a name, by theirs.
func (t *triggers) singles() map[string]*trigger {
	return map[string]*trigger{
		"html-body": &t.body, "css-nesting": &t.nesting, "css-comments": &t.comments, "css-variables": &t.variables,
		"css-selector-class": &t.class, "css-selector-id": &t.id, "css-selector-type": &t.element, "css-selector-universal": &t.universal,
		"css-selector-attribute": &t.attribute, "css-selector-descendant": &t.descendant, "css-selector-child": &t.childOf,
		"css-selector-adjacent-sibling": &t.adjacent, "css-selector-general-sibling": &t.sibling,
		"css-selector-grouping": &t.grouping, "css-selector-chaining": &t.chaining,
	}
}

// kind is how the keys of one kind are written in the table.
type kind struct {
	before, after string
	keys          *map[string][]trigger
}

func (t *triggers) kinds() []kind {
	return []kind{
		{"<", ">", &t.elements},
		{"<", ">", &t.types}, // with a space in between
		{"[", "]", &t.attributes},
		{"[", "]", &t.prefixes}, // with a ^ in between
		{".", "", &t.images},
		{"::", "", &t.pseudos},
		{"@", "", &t.atRules},
		{"(", ")", &t.media},
		{"=", "", &t.keywords},
		{"1", "", &t.units},
		{"", "()", &t.functions},
		{"", ":", &t.properties},
		{"", "", &t.values}, // with a colon in between
	}
}

// line reads what a feature is found by.
func (t *triggers) line(name, keys string, index map[string]int) error {
	weighs := true
	for keys = strings.TrimSpace(keys); keys != ""; keys = strings.TrimSpace(keys) {
		end := strings.IndexByte(keys+" ", ' ')
		if keys[0] == '<' { // the one kind with a space in it
			end = strings.IndexByte(keys, '>') + 1
		}
		key := keys[:end]
		keys = keys[end:]
		if key == "~" {
			weighs = false
			continue
		}
		slug := name
		if name == "properties" {
			slug, key = "css-"+key, key+":"
		}
		feature, known := index[slug]
		if !known {
			return fmt.Errorf("the data has no %s", slug)
		}
		t.add(key, trigger{feature: feature, weighs: weighs, once: key[0] == '[' && strings.HasPrefix(slug, "css-")})
	}
	return nil
}

func (t *triggers) add(key string, found trigger) {
	for _, k := range t.kinds() {
		inner, ok := strings.CutPrefix(key, k.before)
		if !ok || !strings.HasSuffix(inner, k.after) || len(inner) <= len(k.after) {
			continue
		}
		inner = inner[:len(inner)-len(k.after)]
		if k.keys == &t.elements && strings.Contains(inner, " ") || k.keys == &t.attributes && strings.Contains(inner, "^") {
			continue
		}
		(*k.keys)[inner] = append((*k.keys)[inner], found)
		return
	}
}
