package sanitize

import "strings"

// longhands is the set of longhand properties that a property sets: one for a longhand, several for a shorthand. Properties of
// different groups never set the same longhand; within a group each bit stands for one.
type longhands struct {
	group uint8
	bits  uint16
}

// covers reports whether l sets everything that other sets.
func (l longhands) covers(other longhands) bool {
	return l.group == other.group && other.bits&^l.bits == 0
}

// overlaps reports whether l sets something that other sets as well.
func (l longhands) overlaps(other longhands) bool {
	return l.group == other.group && other.bits&l.bits != 0
}

// properties are those that may stay in a style. None of them loads anything with the values that pass styleValue, and
// none takes an element out of its place.
var properties = propertyTable()

// plainProperties set themselves alone.
const plainProperties = `border-collapse border-spacing box-sizing caption-side clear color direction display empty-cells
	float height letter-spacing max-height max-width min-height min-width opacity overflow table-layout text-align
	text-indent text-overflow text-transform vertical-align visibility white-space width word-break word-spacing`

// propertyGroups are shorthands and what they set: one group a line, and within it each name with the numbers of its
// bits.
const propertyGroups = `
	background 01234|background-color 0|background-image 1|background-position 2|background-repeat 3|background-size 4
	border-radius 0123|border-top-left-radius 0|border-top-right-radius 1|border-bottom-right-radius 2|border-bottom-left-radius 3
	font 012345|font-family 0|font-size 1|font-style 2|font-variant 3|font-weight 4|line-height 5
	list-style 012|list-style-position 0|list-style-type 1
	margin 0123|margin-top 0|margin-right 1|margin-bottom 2|margin-left 3
	overflow-wrap 0|word-wrap 0
	padding 0123|padding-top 0|padding-right 1|padding-bottom 2|padding-left 3
	text-decoration 0123|text-decoration-line 0|text-decoration-style 1|text-decoration-color 2
	border 0123456789ab|border-top 048|border-right 159|border-bottom 26a|border-left 37b` +
	`|border-width 0123|border-top-width 0|border-right-width 1|border-bottom-width 2|border-left-width 3` +
	`|border-style 4567|border-top-style 4|border-right-style 5|border-bottom-style 6|border-left-style 7` +
	`|border-color 89ab|border-top-color 8|border-right-color 9|border-bottom-color a|border-left-color b`

func propertyTable() map[string]longhands {
	table := make(map[string]longhands)
	group := uint8(0)
	for name := range strings.FieldsSeq(plainProperties) {
		group++
		table[name] = longhands{group, 1}
	}
	for line := range strings.SplitSeq(strings.TrimSpace(propertyGroups), "\n") {
		group++
		for entry := range strings.SplitSeq(strings.TrimSpace(line), "|") {
			name, numbers, _ := strings.Cut(entry, " ")
			bits := uint16(0)
			for _, digit := range numbers {
				bits |= 1 << strings.IndexRune("0123456789ab", digit)
			}
			table[name] = longhands{group, bits}
		}
	}
	return table
}
