package db

import "strconv"

// In returns a list of placeholders for IN, beginning with number first, and its arguments: for three values from 2 on, "($2,$3,$4,$5)" and
// four arguments, the last value twice. Lengths are powers of two, so that there are few different statements to prepare. values must
// not be empty.
func In[T any](first int, values []T) (list string, args []any) {
	size := 1
	for size < len(values) {
		size *= 2
	}
	args = make([]any, size)
	text := make([]byte, 0, 6*size)
	for i := range args {
		args[i] = values[min(i, len(values)-1)]
		text = strconv.AppendInt(append(text, ",$"...), int64(first+i), 10)
	}
	text[0] = '('
	return string(append(text, ')')), args
}
