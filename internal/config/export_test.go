package config

// Parse is parse for the black-box tests.
var Parse = parse

// Keys lists the keys of the defaults with the names of their variables.
func Keys() map[string]string {
	keys := map[string]string{}
	for _, s := range newTable(Default()).settings {
		keys[s.key] = s.env()
	}
	return keys
}

// DefaultOf is the default of a key as text.
func DefaultOf(key string) string { return newTable(Default()).byKey[key].def }
