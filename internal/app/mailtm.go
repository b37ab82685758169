package app

import (
	"github.com/gonebox/gonebox/internal/connlimit"
	"github.com/gonebox/gonebox/internal/mailtm"
)

// assembleMailTM creates the server of compat.mailtm, if it is configured.
func (a *App) assembleMailTM() {
	if a.mailtmListen == nil {
		return
	}
	api := mailtm.New(mailtm.Parts{
		HTTP: a.kitConfig(), Domains: a.domains, Mailboxes: a.mailboxes, Messages: a.messages, Accounts: a.accounts, Follow: a.follow,
		CheckHost: a.local.With("compat.mailtm.hosts", a.cfg.Compat.MailTM.Hosts).CheckHost,
		TTL:       a.cfg.Compat.MailTM.TTL, Limit: a.cfg.Compat.MailTM.Limit, GuestsOff: a.cfg.Access.Guests == "off",
	})
	a.mailtm = a.newHTTPServer(a.closeWhenStopping(deleteOnFullDisk(api.Handler())))
	a.mailtm.ConnContext = connlimit.ConnContext
}
