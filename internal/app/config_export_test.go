package app

// ParseConfig is parseConfig for the black-box tests.
var ParseConfig = parseConfig

// ConfigKeys lists the keys of the defaults with the names of their variables.
func ConfigKeys() map[string]string {
	keys := map[string]string{}
	for _, s := range newTable(DefaultConfig()).settings {
		keys[s.key] = s.env()
	}
	return keys
}

// ConfigDefault is the default of a key as text.
func ConfigDefault(key string) string { return newTable(DefaultConfig()).byKey[key].def }
