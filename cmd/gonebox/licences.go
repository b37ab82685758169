package main

import (
	"io"

	"github.com/gonebox/gonebox/internal/licences"
)

type licencesCmd struct{}

// Help is shown below the flags of the command.
func (*licencesCmd) Help() string {
	return `Example:
  gonebox licences | less`
}

// Run prints the licences of all dependencies compiled into the program.
func (*licencesCmd) Run(c *console) error {
	_, err := io.WriteString(c.out, licences.Text())
	return err
}
