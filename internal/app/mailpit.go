package app

import (
	"github.com/gonebox/gonebox/internal/connlimit"
	"github.com/gonebox/gonebox/internal/mailpit"
)

// assembleMailpit creates the server of compat.mailpit, if it is configured. Like everything without credentials it is for clients
// on loopback and private networks alone, with every profile.
func (a *App) assembleMailpit() {
	if a.mailpitListen == nil {
		return
	}
	kit := a.kitConfig()
	kit.Unlimited = isLocal
	a.mailpitAPI = mailpit.New(mailpit.Parts{
		HTTP: kit, Mails: a.sink, Messages: a.messages, Inbound: a.inbound, SendMax: int64(a.cfg.SMTP.MaxSize), Hostname: a.cfg.SMTP.Hostname,
		Names: a.cfg.IsDev(), Ready: func() bool { return !a.stopping.Load() },
	})
	a.mailpit = a.newHTTPServer(a.closeWhenStopping(deleteOnFullDisk(a.mailpitAPI.Handler())))
	a.mailpit.ConnContext = connlimit.ConnContext
}
