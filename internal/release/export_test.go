package release

// IsPlain exports isPlain for tests.
func IsPlain(text string) bool { return isPlain(text) }

// WithoutVerdicts exports withoutVerdicts for tests.
func WithoutVerdicts(raw []byte) []byte { return withoutVerdicts(raw) }

// Fields returns the names that fields finds.
func Fields(header []byte) (names []string) {
	for name := range fields(header) {
		names = append(names, name)
	}
	return names
}
