package main

import (
	"fmt"
	"io"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/config"
)

type seedCmd struct {
	configFlags
	File string `arg:"" help:"YAML file with the accounts, or - for standard input."`
	JSON bool   `help:"Print JSON."`
}

// seedMax is the maximum size of a seed in octets, a bound for files that were named by mistake.
const seedMax = 16 << 20

// Run creates what the file names. It prints what it created before an error, since generated secrets are shown only once.
func (s *seedCmd) Run(c *console) error {
	data, err := s.read(c)
	if err != nil {
		return err
	}
	seed, err := app.ParseSeed(data)
	if err != nil {
		return fmt.Errorf("%s: %w", s.File, err)
	}
	return s.operateWith(c, func(o *app.Operator, cfg *config.Config) error {
		rows := []app.Seeded{}
		err := seed.Apply(c, o, cfg, func(r app.Seeded) error {
			rows = append(rows, r)
			if s.JSON {
				return nil
			}
			return printSeeded(c.out, r)
		})
		if s.JSON {
			if printed := printJSON(c.out, rows); err == nil {
				err = printed
			}
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", s.File, err)
		}
		return err
	})
}

func (s *seedCmd) read(c *console) ([]byte, error) {
	in, err := c.open(s.File)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, seedMax+1))
	if err == nil && len(data) > seedMax {
		err = fmt.Errorf("%s: is larger than %d bytes", s.File, seedMax)
	}
	return data, err
}

func printSeeded(w io.Writer, r app.Seeded) (err error) {
	what := r.Kind + " " + visible(r.Name)
	if r.Kind != "account" {
		what += " of " + visible(r.Account)
	}
	switch {
	case !r.Created:
		_, err = fmt.Fprintf(w, "Left %s as it is.\n", what)
	case r.Secret == "":
		_, err = fmt.Fprintf(w, "Created %s.\n", what)
	default:
		_, err = fmt.Fprintf(w, "Created %s. Its secret, shown only once: %s\n", what, r.Secret)
	}
	return err
}
