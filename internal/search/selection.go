package search

import (
	"slices"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/problem"
)

// ParseSelection is Parse for messages that are to be changed. In a list, a prefix without a value restricts nothing, as while a search is
// being typed. Here it is an error, so that an unfinished search does not select everything.
func ParseSelection(pointer, text string, loc *time.Location) (Query, error) {
	q, err := Parse(pointer, text, loc)
	if err != nil {
		return q, err
	}
	for _, word := range splitWords(text) {
		prefix, value, ok := strings.Cut(strings.ToLower(strings.TrimLeft(word, "-!")), ":")
		if ok && isPrefix(prefix) && strings.Trim(value, "<> \t\r\n") == "" {
			return Query{}, problem.Invalid(pointer, "has the prefix %s: without a value", prefix)
		}
	}
	return q, nil
}

// isPrefix reports whether a word is a prefix of terms. Those with times and sizes are none: Parse refuses them without a value.
func isPrefix(word string) bool {
	return fieldCondition(word, "") != nil || slices.Contains([]string{"is", "has", "tag"}, word)
}
