package fault

import (
	"context"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Preset names rules that are set together, as one value of another API. It replaces them as a whole, and they end as a whole.
type Preset struct {
	Account id.Account
	Project string // the name of a project; "": the rules apply to the sink and every project of the account
	Name    string // of the API that sets them
}

// SetPreset replaces the rules of a preset, and stores beside them the value that they were made of. It adds the project and the name of the
// preset to the rules; the caller has checked everything else in them. An account has Max presets at most. Error: fault.limit_reached.
func (s *Service) SetPreset(ctx context.Context, p Preset, value []byte, rules []Settings) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, upsertPreset, p.Account, p.Project, p.Name, string(value)); err != nil {
			return err
		}
		var n int
		if err := tx.QueryRow(ctx, countPresets, p.Account).Scan(&n); err != nil {
			return fmt.Errorf("count the presets of %s: %w", p.Account, err)
		}
		if n > Max { // projects come and go, and their presets stay
			return problem.Detailf(problem.FaultLimitReached, "an account may set the faults of %d projects; delete its rules", Max)
		}
		if err := s.deletePresetRulesTx(ctx, tx, p); err != nil {
			return err
		}
		for _, settings := range rules {
			settings.Project, settings.Preset = p.Project, p.Name
			if _, err := s.appendTx(ctx, tx, p.Account, settings); err != nil {
				return err
			}
		}
		return nil
	})
}

// PresetValue returns the value with which a preset was set, or nil if it is not.
func (s *Service) PresetValue(ctx context.Context, p Preset) ([]byte, error) {
	return queryPreset(ctx, s.db, p)
}

// DeletePreset deletes a preset and its rules. Error: fault.not_found.
func (s *Service) DeletePreset(ctx context.Context, p Preset) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return s.deletePresetTx(ctx, tx, p) })
}

// deletePresetTx is DeletePreset.
func (s *Service) deletePresetTx(ctx context.Context, tx *db.Tx, p Preset) error {
	n, err := tx.Exec(ctx, deletePreset, p.Account, p.Project, p.Name)
	if err == nil && n == 0 {
		err = problem.New(problem.FaultNotFound)
	}
	if err != nil {
		return err
	}
	return s.deletePresetRulesTx(ctx, tx, p)
}

// deletePresetRulesTx deletes the rules of a preset.
func (s *Service) deletePresetRulesTx(ctx context.Context, tx *db.Tx, p Preset) error {
	rules, err := queryRules(ctx, tx, p.Account, time.Time{})
	if err != nil {
		return err
	}
	for _, r := range rules {
		if r.Preset != p.Name || r.Project != p.Project {
			continue
		}
		if err := s.deleteTx(ctx, tx, r); err != nil {
			return err
		}
	}
	return nil
}

// deleteTx deletes a rule.
func (s *Service) deleteTx(ctx context.Context, tx *db.Tx, r *Rule) error {
	tx.AfterCommit(func() { s.forget(r.Account) })
	if _, err := tx.Exec(ctx, deleteRule, r.Account, r.ID); err != nil {
		return err
	}
	return deleteTriesTx(ctx, tx, string(r.ID))
}
