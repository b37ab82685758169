package config

import "regexp"

// linkName matches the name of a service or of a port in upper case, with underscores for hyphens; no name ends with a hyphen.
const linkName = `[A-Z0-9](?:[A-Z0-9_]*[A-Z0-9])?`

// serviceLink matches the names of variables that Kubernetes sets in every container for a service of the cluster that is called
// gonebox, or gonebox- and more: its name in upper case, with underscores, stands in front.
var serviceLink = regexp.MustCompile(`^GONEBOX_(?:` + linkName + `_)?(?:SERVICE_HOST|SERVICE_PORT(?:_` + linkName + `)?|PORT_[0-9]{1,5}_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$`)

// servicePort matches the name and the value of a further one. Its name alone could be that of a mistaken key.
var servicePort = regexp.MustCompile(`^GONEBOX_(?:` + linkName + `_)?PORT=(?:tcp|udp)://`)

// isServiceLink reports whether Kubernetes has set a variable for a service of its cluster. It is not a key of the configuration, and
// operators do not set it, so it is passed over.
func isServiceLink(name, value string) bool {
	return serviceLink.MatchString(name) || servicePort.MatchString(name+"="+value)
}
