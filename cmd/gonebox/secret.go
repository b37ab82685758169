package main

import (
	"fmt"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/config"
)

type secretCmd struct {
	Rotate secretRotateCmd `cmd:"" help:"Replace the master secret; tokens stay valid until they end."`
}

type secretRotateCmd struct {
	configFlags
	Lost bool `help:"Give up everything that was encrypted under a lost secret (second factors, signing secrets of webhooks), so that the service starts with the present one."`
	JSON bool `help:"Print JSON."`
}

// Run rotates the master secret. With secrets.key it only prints what to set: the configuration file is for the operator
// to edit.
func (s *secretRotateCmd) Run(c *console) error {
	return s.operateWith(c, func(o *app.Operator, cfg *config.Config) error {
		key, previous, err := o.RotateSecret(c, cfg, s.Lost)
		if err != nil {
			return err
		}
		if s.JSON {
			return printJSON(c.out, struct {
				Rotated  bool   `json:"rotated"` // false: the configuration must be changed
				Key      string `json:"key,omitempty"`
				Previous string `json:"previous,omitempty"`
			}{key == "", key, previous})
		}
		if s.Lost {
			_, err = fmt.Fprintln(c.out, "Gave up what the lost secret encrypted. Start the service again.")
			return err
		}
		if key == "" {
			_, err = fmt.Fprintln(c.out, "Rotated the master secret. A running service uses the new one within a second.")
			return err
		}
		_, err = fmt.Fprintf(c.out, `# Set these in the configuration and restart. Where several processes share the database, first restart
# each with the present key as key and the new one added to previous, so that all accept the new tokens.
secrets:
  key: %q
  previous: %q
`, key, previous)
		return err
	})
}
