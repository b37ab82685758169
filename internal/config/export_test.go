package config

// Parse is parse for the black-box tests.
var Parse = parse

// IsServiceLink is isServiceLink for the black-box tests.
var IsServiceLink = isServiceLink

// Keys maps every key of the defaults to the name of its variable.
func Keys() map[string]string {
	keys := map[string]string{}
	for _, s := range newTable(Default()).settings {
		keys[s.key] = s.env()
	}
	return keys
}
