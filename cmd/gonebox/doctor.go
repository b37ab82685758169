package main

import (
	"errors"
	"fmt"

	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/doctor"
)

type doctorCmd struct{ configFlags }

// Run runs the checks and prints each finding as soon as it is made, since DNS may be slow. An invalid configuration is
// reported as a finding too.
func (f *doctorCmd) Run(c *console) error {
	failures := 0
	show := func(found doctor.Finding) {
		if found.Level == doctor.Failure {
			failures++
		}
		fmt.Fprintf(c.out, "%-8s %s: %s\n", found.Level, found.Check, found.Text)
	}
	cfg, err := f.load(c, nil)
	if _, invalid := errors.AsType[*config.Error](err); invalid {
		show(doctor.Finding{Check: "configuration", Level: doctor.Failure, Text: oneLine(err)})
	} else if err != nil {
		return err
	} else {
		doctor.Examine(c, cfg, show)
	}
	switch failures {
	case 0:
		return nil
	case 1:
		return errors.New("1 check failed")
	default:
		return fmt.Errorf("%d checks failed", failures)
	}
}
