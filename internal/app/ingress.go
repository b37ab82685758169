package app

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"net/http"
	"time"

	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/ingress"
	"github.com/gonebox/gonebox/internal/ingress/catchall"
	"github.com/gonebox/gonebox/internal/netguard"
	"github.com/gonebox/gonebox/internal/problem"
)

// SNS is how Amazon SNS is reached, from which the ingress ses fetches certificates and confirms subscriptions.
type SNS struct {
	Client *http.Client
	Roots  *x509.CertPool // by which its certificates are trusted
}

// snsTimeout bounds a request to SNS. SNS waits 15 s for the response to a notification.
const snsTimeout = 10 * time.Second

// assembleIngress creates the receiving of mail by other ways than SMTP.
func (a *App) assembleIngress(o Options) (err error) {
	sns := o.SNS
	if sns == nil {
		sns = &SNS{Client: netguard.New(netguard.Options{Clock: a.clock, Ports: []uint16{443}, Timeout: snsTimeout}).Client()}
	}
	configs := make([]ingress.Config, len(a.cfg.Ingress))
	for i, c := range a.cfg.Ingress {
		configs[i] = ingress.Config{Name: c.Name, Kind: c.Kind, Secret: string(c.Secret), Topic: c.Topic, PublicKey: c.PublicKey}
	}
	a.ingress, err = ingress.New(ingress.Parts{
		DB: a.db, Clock: a.clock, Logger: a.log, Once: a.once, Submitter: a.smtp, Client: sns.Client, Roots: sns.Roots,
		Memory: a.inbound.Memory, MaxSize: int64(a.cfg.SMTP.MaxSize), Observe: a.metrics.counts.observeIngress,
	}, configs)
	if err != nil {
		return err
	}
	a.assembleCatchalls()
	for _, c := range configs { // present from the start, so that rates can be computed
		for _, outcome := range ingress.AllOutcomes() {
			a.metrics.counts.ingress.WithLabelValues(c.Name, c.Kind, string(outcome))
		}
	}
	return nil
}

// assembleCatchalls creates the readers of mailboxes elsewhere.
func (a *App) assembleCatchalls() {
	holder := "the only process" // which follows the one before at once, since the data folder is locked
	if a.sharesDatabase() {
		holder = rand.Text()
	}
	for _, c := range a.cfg.Ingress {
		if c.Kind != config.IngressIMAP {
			continue
		}
		a.catchalls = append(a.catchalls, catchall.New(catchall.Config{
			Name: c.Name, URL: c.URL, User: c.User, Password: string(c.Password), Folder: c.Folder, MoveTo: c.MoveTo,
		}, catchall.Parts{
			Ingress: a.ingress, Clock: a.clock, Logger: a.log, Memory: a.memory, Cost: a.inbound.Memory, MaxSize: int64(a.cfg.SMTP.MaxSize),
			Served: a.takesMailFor, Holder: holder,
		}))
	}
}

// takesMailFor reports whether the domain of an address is served, so that it is this service that knows about the mailbox.
func (a *App) takesMailFor(ctx context.Context, address string) bool {
	err := a.inbound.Check(ctx, address)
	return !problem.Has(err, problem.MailDomainNotServed) && !problem.Has(err, problem.MailAddressSyntax)
}
