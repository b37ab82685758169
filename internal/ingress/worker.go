package ingress

import (
	_ "embed"
	"encoding/json"
	"strings"
)

//go:embed worker.mjs
var worker string

// Worker returns the Cloudflare Email Worker that posts mail to an ingress at url.
func Worker(c Config, url string) string {
	quoted := func(text string) string {
		literal, _ := json.Marshal(text) // never fails, and is a literal of JavaScript (ECMAScript 2019)
		return string(literal)
	}
	return strings.NewReplacer("NAME", c.Name, `"URL"`, quoted(url), `"SECRET"`, quoted(c.Secret)).Replace(worker)
}
