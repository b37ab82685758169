package db

import "strconv"

// In gives the list that IN wants for some values, from placeholder first on, and what stands for them: "($2,$3,$4,$5)" and
// four arguments for three values, the last of them twice. Lengths are powers of two, so that few statement texts exist.
// There must be a value.
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
