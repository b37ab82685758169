// Package apart finds where a screen shows a gap between two texts of an HTML mail that its source does not separate: because
// of how their elements are laid out, or because a number meets a word where one element ends and another begins.
// The extractor of codes and the converter of HTML to text share it.
package apart

import (
	"strconv"
	"strings"
)

// Layout is what a declaration of a style says about how an element stands among its neighbours.
type Layout uint8

const (
	Inline Layout = 1 << iota // in the line, although it would be a block by its name
	Block                     // on lines of its own
	Box                       // within a line, apart from its neighbours
	Cell                      // a cell of a row
	Items                     // its children stand apart from one another
	Margin                    // an inline element stands apart from its neighbours
	Raised                    // above or below the line, as the mark of a note is
)

// Declared returns the layout that a declaration gives an element. The name of the property is in lower case.
func Declared(property, value string) Layout {
	switch property {
	case "display":
		return display(strings.ToLower(strings.TrimSpace(value)))
	case "float":
		if HasWord(value, "left") || HasWord(value, "right") {
			return Box
		}
	case "position":
		if HasWord(value, "absolute") || HasWord(value, "fixed") {
			return Box
		}
	case "vertical-align":
		if HasWord(value, "super") || HasWord(value, "sub") {
			return Margin | Raised
		}
	case "padding", "margin":
		if widens(value) {
			return Margin
		}
	case "padding-left", "padding-right", "margin-left", "margin-right":
		if gaps(value) {
			return Margin
		}
	}
	return 0
}

// display returns the layout that a value of the property display gives.
func display(value string) Layout {
	if end := strings.IndexAny(value, " !"); end >= 0 {
		value = value[:end]
	}
	switch value {
	case "inline":
		return Inline
	case "block", "table", "list-item", "flow-root", "table-row", "table-caption":
		return Block
	case "flex", "grid":
		return Block | Items
	case "inline-flex", "inline-grid":
		return Box | Items
	case "inline-block", "inline-table":
		return Box
	case "table-cell":
		return Cell
	}
	return 0
}

// seenGap is from how many pixels on two texts are seen apart.
const seenGap = 2

// widens reports whether the shorthand of a margin or padding leaves a gap on the left or right.
func widens(value string) bool {
	first, rest := side(value)
	second, rest := side(rest)
	_, rest = side(rest)
	fourth, _ := side(rest)
	return second == "" && gaps(first) || gaps(second) || gaps(fourth)
}

// side returns the first of the values of a shorthand.
func side(value string) (first, rest string) {
	first, rest, _ = strings.Cut(strings.TrimLeft(value, " "), " ")
	return first, rest
}

// gaps reports whether a length leaves a gap that is seen.
func gaps(value string) bool {
	n, ok := Pixels(value)
	return ok && n >= seenGap
}

// HasWord reports whether the value of a declaration begins with a word in lower case. "!important" may follow it.
func HasWord(value, word string) bool {
	value = strings.TrimSpace(value)
	return len(value) >= len(word) && strings.EqualFold(value[:len(word)], word)
}

// em is the size of one em in pixels where nothing sets another.
const em = 16

// Pixels reads a length.
func Pixels(v string) (n float32, ok bool) {
	v = strings.TrimSpace(v)
	end := 0
	for end < len(v) && (v[end] >= '0' && v[end] <= '9' || v[end] == '.' || v[end] == '-') {
		end++
	}
	f, err := strconv.ParseFloat(v[:end], 32)
	if err != nil {
		return 0, false
	}
	switch unit := strings.TrimSpace(v[end:]); {
	case HasWord(unit, "em"), HasWord(unit, "rem"):
		return float32(f) * em, true
	case HasWord(unit, "pt"):
		return float32(f) * 4 / 3, true
	case HasWord(unit, "%"):
		return float32(f) * em / 100, true
	}
	return float32(f), true
}
