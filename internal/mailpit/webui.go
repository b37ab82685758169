package mailpit

import "net/http"

// webUIConfig is the configuration of Mailpit's own page, which can be served in front of this API. The names of the fields are
// those in JSON.
type webUIConfig struct {
	Label               string
	MessageRelay        messageRelay
	SpamAssassin        bool
	ChaosEnabled        bool
	DuplicatesIgnored   bool
	HideDeleteAllButton bool
}

// messageRelay describes the server through which messages can be released.
type messageRelay struct {
	Enabled            bool
	SMTPServer         string
	ReturnPath         string
	AllowedRecipients  string
	BlockedRecipients  string
	OverrideFrom       string
	PreserveMessageIDs bool
	RecipientAllowlist string
}

// webUI responds with the configuration of Mailpit's page.
func (a *API) webUI(w http.ResponseWriter, r *http.Request) {
	_, hasChaos, err := a.preset(r.Context(), chaosPreset)
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	c := webUIConfig{Label: "Gonebox", ChaosEnabled: hasChaos}
	if from := a.Release.Sender(); from != "" { // the service keeps the identifiers of messages, and the address of its relay to itself
		c.MessageRelay = messageRelay{Enabled: true, SMTPServer: "relay.url", ReturnPath: from, PreserveMessageIDs: true}
	}
	writeJSON(w, c)
}
