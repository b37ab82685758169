package config

// Parse is parse for the black-box tests.
var Parse = parse

// Keys maps every key of the defaults to the name of its variable.
func Keys() map[string]string {
	keys := map[string]string{}
	for _, s := range newTable(Default()).settings {
		keys[s.key] = s.env()
	}
	return keys
}

// DefaultOf returns the default of a key as text.
func DefaultOf(key string) string { return newTable(Default()).byKey[key].def }
