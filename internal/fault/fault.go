// Package fault makes the server fail on purpose, for applications that are tested against it (docs/spec/faults.md): the sink and projects
// alone. Rules say which commands of an SMTP session are answered with what; tags of addresses do so without a rule.
//
// A rule belongs to an account and applies to mail of the sink or of a project of that account. Whether it answers depends on the rule, on
// the mail, and on the counts that are stored beside the rule, so that several processes count together: the same rules, seeds and mails
// result in the same replies (Rule.decide). The package does not speak SMTP.
package fault

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"time"

	"github.com/gonebox/gonebox/internal/cache"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Stage is the command that a rule answers.
type Stage string

// The stages.
const (
	AtAuth    Stage = "auth"    // the reply to the credentials of AUTH
	AtMail    Stage = "mail"    // the reply to MAIL
	AtRcpt    Stage = "rcpt"    // the reply to RCPT
	AtData    Stage = "data"    // the reply to DATA, or to the first BDAT
	AtMessage Stage = "message" // the reply to the content
)

// The bounds of rules.
const (
	Max      = 100 // rules of an account
	DelayMax = 300 * time.Second
	ForMax   = 7 * 24 * time.Hour
)

// Settings are what the owner of a rule sets. They are stored as JSON, so the JSON names must not change. Zero values are as if left out.
type Settings struct {
	Project     string        `json:"project,omitempty"` // the name of a project; "": the sink and every project of the account
	From        string        `json:"from,omitempty"`    // a pattern of the sender (package wildcard); "": every sender
	To          string        `json:"to,omitempty"`      // a pattern of one of the recipients; "": every recipient
	Stage       Stage         `json:"stage"`
	Reply       string        `json:"reply,omitempty"`       // "": the command is executed, after Delay, unless Close is true
	Delay       time.Duration `json:"delay,omitempty"`       // before the reply, at most DelayMax
	Close       bool          `json:"close,omitempty"`       // the connection is closed, after Reply if there is one
	Times       int64         `json:"times,omitempty"`       // how often the rule answers; 0: without end
	Every       int64         `json:"every,omitempty"`       // answers the nth, the 2nth and so on of what matches; 0: each
	PerMinute   int64         `json:"perMinute,omitempty"`   // lets as many pass in a minute, and answers the rest; 0: answers each
	Probability float64       `json:"probability,omitempty"` // of answering; 0: 1
	Seed        int64         `json:"seed,omitempty"`        // of what Probability decides
	For         time.Duration `json:"for,omitempty"`         // how long the rule exists; 0: until it is deleted
	Preset      string        `json:"preset,omitempty"`      // the name of the Preset that the rule is of; "": none
}

// Rule is a stored rule. It is a copy of its row at the time of reading.
type Rule struct {
	ID        id.Fault
	Account   id.Account
	CreatedAt time.Time
	Settings

	counts
}

// Hits returns how often the rule has answered.
func (r *Rule) Hits() int64 { return r.hits }

// EndsAt returns when the rule ends; the zero Time: it does not.
func (r *Rule) EndsAt() time.Time {
	if r.For == 0 {
		return time.Time{}
	}
	return r.CreatedAt.Add(r.For)
}

// Service implements rules. It is safe for concurrent use.
type Service struct {
	db     *db.DB
	clock  clock.Clock
	rules  *cache.Cache[id.Account, []*Rule]
	notify func(account id.Account) // notifies the other processes of a change; nil: there are none
}

// New returns a Service. A caller that uses OnChange calls it before all other methods. Sweep must be called periodically.
func New(d *db.DB, c clock.Clock) *Service {
	return &Service{db: d, clock: c, rules: newCache()}
}

// OnChange sets the function that notifies the other processes, which must then call Forget, that the rules of an account have changed. It
// is called after the commit and must not block. OnChange itself is not safe for concurrent use.
func (s *Service) OnChange(notify func(account id.Account)) { s.notify = notify }

// forget makes all processes read the rules of an account again.
func (s *Service) forget(account id.Account) {
	s.Forget(account)
	if s.notify != nil {
		s.notify(account)
	}
}

// Create stores a rule behind those that the account has. A rule with a probability and without a seed gets a random one. Errors:
// request.invalid, fault.limit_reached.
func (s *Service) Create(ctx context.Context, account id.Account, settings Settings) (r *Rule, err error) {
	if err := settings.check(); err != nil {
		return nil, err
	}
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		r, err = s.appendTx(ctx, tx, account, settings)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// appendTx is Create without the check. Error: fault.limit_reached.
func (s *Service) appendTx(ctx context.Context, tx *db.Tx, account id.Account, settings Settings) (*Rule, error) {
	if settings.Probability > 0 && settings.Seed == 0 {
		settings.Seed = newSeed()
	}
	now := s.clock.Now().Truncate(time.Microsecond)
	n, last, err := countTx(ctx, tx, account, now)
	if err != nil {
		return nil, err
	}
	if n >= Max {
		return nil, problem.Detailf(problem.FaultLimitReached, "an account may have %d rules; delete some", Max)
	}
	if !now.After(last) { // rules are tried in the order of their times
		now = last.Add(time.Microsecond)
	}
	tx.AfterCommit(func() { s.forget(account) })
	r := &Rule{ID: id.New[id.Fault](now), Account: account, CreatedAt: now, Settings: settings}
	return r, insertTx(ctx, tx, r)
}

// newSeed returns a random seed that JSON numbers hold exactly.
func newSeed() int64 {
	const bits = 53
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return int64(binary.BigEndian.Uint64(b[:])>>(64-bits)) | 1
}

// List returns the rules of an account in the order in which they are tried: the oldest first.
func (s *Service) List(ctx context.Context, account id.Account) ([]*Rule, error) {
	return queryRules(ctx, s.db, account, s.clock.Now())
}

// Delete deletes a rule of an account. One of a preset ends with the whole preset. Error: fault.not_found.
func (s *Service) Delete(ctx context.Context, account id.Account, rule id.Fault) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		r, err := lockTx(ctx, tx, rule, time.Time{})
		if err != nil {
			return err
		}
		if r == nil || r.Account != account {
			return problem.New(problem.FaultNotFound)
		}
		if r.Preset != "" {
			return s.deletePresetTx(ctx, tx, Preset{account, r.Project, r.Preset})
		}
		return s.deleteTx(ctx, tx, r)
	})
}

// DeleteAll deletes all rules and presets of an account, and what its greylist remembers.
func (s *Service) DeleteAll(ctx context.Context, account id.Account) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return s.EraseTx(ctx, tx, account) })
}

// EraseTx is DeleteAll in the caller's transaction, for an account that leaves.
func (s *Service) EraseTx(ctx context.Context, tx *db.Tx, account id.Account) error {
	rules, err := queryRules(ctx, tx, account, time.Time{})
	if err != nil {
		return err
	}
	scopes := []string{greylistOf(account)}
	for _, r := range rules {
		scopes = append(scopes, string(r.ID))
	}
	if err := deleteTriesTx(ctx, tx, scopes...); err != nil {
		return err
	}
	tx.AfterCommit(func() { s.forget(account) })
	if _, err := tx.Exec(ctx, deletePresets, account); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, deleteRules, account)
	return err
}

// Sweep deletes rules that have ended, and tries that are older than triesKept. A periodic job calls it.
func (s *Service) Sweep(ctx context.Context) error {
	now := s.clock.Now()
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, deleteEnded, now.UnixMicro()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, deleteOldTries, now.Add(-triesKept).UnixMicro())
		return err
	})
}
